#!/usr/bin/env python3
"""Fails on a test file in C++ that no CMakeLists.txt names, so that nothing would build or run it, and on two in Python of one name, of which
pytest imports the first alone.  usage: check_tests.py REPOSITORY"""

import collections
import pathlib
import sys


def builds(path, file):
    """Whether the list names the file, by itself, for folders below that ask for it, or by a pattern (file(GLOB … */*_test.cpp))."""
    words = [word.strip("()") for word in path.read_text().split()]
    return any(word == file.name or file in path.parent.glob(word) for word in words if word.endswith("_test.cpp") and "$" not in word)


def unlisted(repository):
    """Paths of test files that are in none of the lists above them."""
    tests = pathlib.Path(repository) / "tests"
    found = []
    for file in sorted(tests.rglob("*_test.cpp")):
        lists = [folder / "CMakeLists.txt" for folder in file.parents if tests in (folder, *folder.parents)]
        if not any(builds(path, file) for path in lists if path.exists()):
            found.append(str(file.relative_to(repository)))
    return found


def of_one_name(repository):
    """Names of Python test files that stand in several folders."""
    names = collections.Counter(path.name for path in (pathlib.Path(repository) / "tests").rglob("test_*.py"))
    return sorted(name for name, count in names.items() if count > 1)


def main():
    problems = [f"{file}: in no CMakeLists.txt" for file in unlisted(sys.argv[1])] + [f"{name}: in several folders" for name in of_one_name(sys.argv[1])]
    for problem in problems:
        print(problem)
    if not problems:
        print("tests: every test file is built, and has a name of its own")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
