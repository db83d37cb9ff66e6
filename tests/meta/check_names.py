#!/usr/bin/env python3
"""Fails on two types of one name in one namespace: the linker takes the functions of either for both (C++20, [basic.def.odr]).

usage: check_names.py REPOSITORY
"""

import collections
import pathlib
import re
import sys

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)\b[^;{]*\{", re.MULTILINE)


def types_of(text):
    """(namespace, name) of each type that the header defines outside of others."""
    spaces = [(found.start(), found[1]) for found in NAMESPACE.finditer(text)]
    for found in TYPE.finditer(text):
        inside = [name for start, name in spaces if start < found.start()]
        yield (inside[-1] if inside else "", found[1])


def check(root):
    places = collections.defaultdict(set)
    for folder in ("src", "apps"):
        for path in sorted((root / folder).rglob("*.h")):
            for name in types_of(path.read_text()):
                places[name].add(str(path.relative_to(root)))
    return [f"{space}::{name} is defined in {' and in '.join(sorted(files))}" for (space, name), files in sorted(places.items()) if len(files) > 1]


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "names: no two types have one name")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
