#!/usr/bin/env python3
"""Fails on a file of more than 600 lines or a function of more than 80, in C++ and Python.  usage: check_sizes.py REPOSITORY

Functions in C++ are found by layout, which clang-format makes dependable: a definition begins on a line that ends in `{` and
looks like a signature, and ends on the line with `}` at the same indentation.
"""

import ast
import os
import pathlib
import re
import sys

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 80
SKIPPED = {".git", "build", "node_modules", "__pycache__", ".cache"}
CPP = {".h", ".cpp"}

# `name(…) const noexcept {` at the end of a signature, but no control statement, no initialiser (with a lambda in it) and no type.
SIGNATURE_END = re.compile(r"\)\s*(const|noexcept|override|final|mutable|->\s*[\w:<>,&*\s]+|\s)*(:\s.*)?\{\s*$")
NOT_A_FUNCTION = re.compile(r"^\s*\{|^\s*(if|for|while|switch|catch|do|else|return|namespace|class|struct|enum|union|extern)\b|^\s*\}|=\s*\{\s*$")


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith((".venv", "build")))
        for name in sorted(files):
            if pathlib.Path(name).suffix in CPP | {".py"}:
                yield pathlib.Path(folder) / name


def cpp_functions(lines):
    """(first line, number of lines), counted from the line that opens the body."""
    for start, line in enumerate(lines):
        if not SIGNATURE_END.search(line) or NOT_A_FUNCTION.search(line):
            continue
        indent = len(_signature_line(lines, start)) - len(_signature_line(lines, start).lstrip())
        closing = " " * indent + "}"
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(closing) and not lines[end][indent + 1 : indent + 2].isalnum():
                yield start + 1, end - start + 1
                break


def _signature_line(lines, end):
    """The first line of the signature that ends on line `end`: parentheses open there."""
    depth, start = 0, end
    while start >= 0:
        depth += lines[start].count(")") - lines[start].count("(")
        if depth <= 0:
            # A constructor's initialisers stand between its signature and its body.
            while start > 0 and (lines[start].lstrip().startswith(": ") or (lines[start - 1].rstrip().endswith(",") and depth == 0 and lines[start].startswith("      "))):
                start -= 1
            return lines[start]
        start -= 1
    return lines[end]


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def problems_of(path):
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield f"{path}: {len(lines)} lines, at most {MAX_FILE_LINES}"
    functions = cpp_functions(lines) if path.suffix in CPP else python_functions(text)
    for line, length in functions:
        if length > MAX_FUNCTION_LINES:
            yield f"{path}:{line}: a function of {length} lines, at most {MAX_FUNCTION_LINES}"


def main():
    problems = [problem for path in sources(pathlib.Path(sys.argv[1])) for problem in problems_of(path)]
    print("\n".join(problems) or "sizes: every file and function is within its limit")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
