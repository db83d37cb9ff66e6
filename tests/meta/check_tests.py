#!/usr/bin/env python3
"""Fails on a test file in C++ that no CMakeLists.txt names, so that nothing would build or run it.  usage: check_tests.py REPOSITORY"""

import pathlib
import sys


def unlisted(repository):
    """Paths of test files that are in none of the lists above them."""
    tests = pathlib.Path(repository) / "tests"
    found = []
    for file in sorted(tests.rglob("*_test.cpp")):
        lists = [folder / "CMakeLists.txt" for folder in file.parents if tests in (folder, *folder.parents)]
        names = {file.relative_to(folder.parent).as_posix() for folder in lists}
        written = [word.strip("()") for path in lists if path.exists() for word in path.read_text().split()]
        if not names.intersection(written):
            found.append(str(file.relative_to(repository)))
    return found


def main():
    problems = unlisted(sys.argv[1])
    for file in problems:
        print(f"{file}: in no CMakeLists.txt")
    if not problems:
        print("tests: every test file is built")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
