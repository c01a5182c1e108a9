#!/usr/bin/env python3
"""A layer includes only what stands below it, never its neighbour, in the order docs/architecture.md draws."""
import pathlib
import re
import sys

import source

# The pure layers decide about octets and know no sockets (docs/architecture.md).
PURE = {"base", "smtp", "message"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def read_order(architecture):
    """{layer: height}, from the drawing; layers on one line are neighbours of one height."""
    drawing = architecture.split("```")[1]
    rows = [re.findall(r"(?:^|\s{2,})(\w+)/", line) for line in drawing.splitlines()]
    rows = [row for row in rows if row]
    return {layer: len(rows) - i for i, row in enumerate(rows) for layer in row}


def module_of(path):
    """include/mailonce/smtp/x.h and src/smtp/x.cpp belong to smtp; src/main.cpp to main."""
    parts = pathlib.PurePath(path).parts
    inner = parts[2:] if parts[0] == "include" else parts[1:]
    return inner[0] if len(inner) > 1 else pathlib.PurePath(inner[0]).stem


def check(path, text, order):
    """The problems of one file; path is relative to the root."""
    module = module_of(path)
    height = len(order) + 1 if module in ("main", "asio_pch") else order.get(module)
    if height is None:
        return [f"{path}:1: {module}/ does not stand in docs/architecture.md"]
    problems = []
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        where = f"{path}:{source.line_of(text, match.start(2))}"
        if target.startswith("mailonce/"):
            other = target.split("/")[1]
            if other not in order:
                problems.append(f"{where}: {other}/ does not stand in docs/architecture.md")
            elif other != module and order[other] >= height:
                problems.append(f"{where}: {module}/ must not include {target}: it does not stand below")
        elif kind == '"' and "/" in target:
            problems.append(f"{where}: {target} reaches into another folder; include its public header")
        elif module in PURE and target.startswith("boost/asio"):
            problems.append(f"{where}: {module}/ is pure and knows no Asio")
    if path.endswith(".h") and "#pragma once" not in text:
        problems.append(f"{path}:1: has no #pragma once")
    return problems


def main(root):
    order = read_order(pathlib.Path(root, "docs/architecture.md").read_text())
    problems = []
    for path in source.files(root, "include/mailonce", "src"):
        problems += check(str(path.relative_to(root)), path.read_text(), order)
    return source.report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
