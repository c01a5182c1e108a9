#!/usr/bin/env python3
"""co_await is a whole statement: g++ 12 miscompiles it inside conditions and larger expressions, and destroys braced
temporaries and capturing lambdas of its operand twice.

Allowed:  co_await f();   auto x = co_await f();   auto [a, b] = co_await f();   x = co_await f();   co_return co_await f();
"""
import re
import sys

import source

CLOSING = {")": "(", "]": "[", "}": "{"}
# What may stand between the begin of the statement and co_await.
TARGET = r"(?:[\w:<>,\s&*.\[\]]|->)*[\w>\]&]\s*=\s*"
ALLOWED = re.compile(rf"\s*(?:co_return\s+|{TARGET})?$")
# Heads of statements that hold another one: if (…), else, for (…), case x:, label:
HEAD = re.compile(r"\s*(?:else\b|do\b|(?:if(?:\s+constexpr)?|for|while|switch)\s*(?=\()|(?:case\b(?:::|[^:;])*|default|\w+)\s*:(?!:))")
OPERATORS = re.compile(r"&&|\|\||\?|==|!=|<=|>=|(?<![-\w>\s])\s*[<>]\s*\d")


def matching(text, at):
    """The offset after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i + 1
    return len(text)


def without_heads(statement):
    while match := HEAD.match(statement):
        end = match.end()
        statement = statement[matching(statement, end) if statement[end:end + 1] == "(" else end:]
    return statement


def operand_of(text, at):
    """From after co_await to the semicolon that ends its statement; and that text without what stands in brackets."""
    flat, i = [], at
    while i < len(text) and text[i] not in ";)}]":
        if text[i] in "([{":
            i = matching(text, i)
        else:
            flat.append(text[i])
            i += 1
    return text[at:i], "".join(flat), text[i:i + 1]


def fault(statement, text, at):
    """What is wrong with the co_await that ends at `at`; `statement` is what stands before it."""
    if statement is None:
        return "stands inside an expression or a condition"
    if not ALLOWED.match(without_heads(statement)):
        return "is not a whole statement"
    operand, flat, end = operand_of(text, at)
    if end != ";":
        return "is not a whole statement"
    if re.search(r"\bco_await\b", operand):
        return "stands beside another co_await"
    if "{" in operand:
        return "has a lambda or a braced temporary in its operand: name it first"
    if OPERATORS.search(flat):
        return "is part of an expression"
    return None


def check(path, text):
    code = source.code_only(text)
    code = re.sub(r"^[ \t]*#.*$", lambda m: " " * len(m.group()), code, flags=re.MULTILINE)
    problems, stack, begins = [], [], [0]  # open brackets; where the statement of each open block begins
    for match in re.finditer(r"[()\[\]{};]|\bco_await\b", code):
        token = match.group()
        if token == "co_await":
            inside = bool(stack) and stack[-1] != "{"
            why = fault(None if inside else code[begins[-1]:match.start()], code, match.end())
            if why:
                problems.append(f"{path}:{source.line_of(code, match.start())}: co_await {why}")
        elif token == ";":
            if not stack or stack[-1] == "{":
                begins[-1] = match.end()
        elif token in CLOSING:
            if stack:
                stack.pop()
            if token == "}":
                if len(begins) > 1:
                    begins.pop()
                begins[-1] = match.end()
        else:
            stack.append(token)
            if token == "{":
                begins.append(match.end())
    return problems


def main(root):
    problems = []
    for path in source.files(root, "include", "src", "tests"):
        problems += check(path.relative_to(root), path.read_text())
    return source.report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
