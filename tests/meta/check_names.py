#!/usr/bin/env python3
"""Fails on two types of one name in one namespace: the linker takes the functions of either for both (C++20, [basic.def.odr]).
Fails on an instruction to install `tidemark` from PyPI, where that is another project.

usage: check_names.py REPOSITORY
"""

import collections
import pathlib
import re
import sys

import prose

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)\b[^;{]*\{", re.MULTILINE)
# Ours is tidemark-gpu; a path or a file of a wheel is no name on PyPI.
INSTALL = re.compile(r"\bpip3? install\b[^\n`]*?(?<![\w./-])(tidemark(?!-gpu|[\w/*-]|\.\w)(?:\[\w+\])?)")
SUFFIXES = {".md", ".py", ".sh", ".cpp", ".h", ".yml", ".yaml", ".toml", ".js", ".html"}


def types_of(text):
    """(namespace, name) of each type that the header defines outside of others."""
    spaces = [(found.start(), found[1]) for found in NAMESPACE.finditer(text)]
    for found in TYPE.finditer(text):
        inside = [name for start, name in spaces if start < found.start()]
        yield (inside[-1] if inside else "", found[1])


def foreign_installs(root):
    """The lines that install the other project, outside of tests."""
    for path in prose.files(root, SUFFIXES):
        name = path.relative_to(root).as_posix()
        if name.startswith("tests/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            for found in INSTALL.finditer(line):
                yield f"{name}:{number}: {found[1]} is another project on PyPI: tidemark-gpu"


def check(root):
    places = collections.defaultdict(set)
    for folder in ("src", "apps"):
        for path in sorted((root / folder).rglob("*.h")):
            for name in types_of(path.read_text()):
                places[name].add(str(path.relative_to(root)))
    return [f"{space}::{name} is defined in {' and in '.join(sorted(files))}" for (space, name), files in sorted(places.items()) if len(files) > 1]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = [*check(root), *foreign_installs(root)]
    print("\n".join(problems) or "names: no two types have one name; documents install tidemark-gpu")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
