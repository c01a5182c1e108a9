#!/usr/bin/env python3
"""One job a file: nobody reads a source of more than 400 lines at a sitting."""
import sys

import source

MOST_LINES = 400


def check(path, text):
    lines = text.count("\n")
    return [f"{path}:{lines}: has {lines} lines, {MOST_LINES} are the most; give its second job a file"] if lines > MOST_LINES else []


def main(root):
    problems = []
    for path in source.files(root, "include", "src", "tests"):
        problems += check(path.relative_to(root), path.read_text())
    return source.report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
