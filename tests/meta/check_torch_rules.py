#!/usr/bin/env python3
"""Each rule of src/tensor/torch_rules.h cites the release from which torch_rules.cpp has it: python check_torch_rules.py ROOT"""

import pathlib
import re
import sys

# Of the release itself; and what its type describes.
UNDESCRIBED = {"version", "caveat", "allocator", "cudnn", "blas_workspaces"}


def begins(rows):
    """{field: the first release that sets it}"""
    found, waiting = {}, []
    for field, release in re.findall(r'\brules\.(\w+) = |\badd\("([\d.]+)"\)', rows):
        if release:
            for one in waiting:
                found.setdefault(one, release)
            waiting = []
        else:
            waiting.append(field)
    return found


def cited(header):
    """{field: the releases that its comment cites}"""
    return {field: re.findall(r"\((\d+\.\d+\.\d+)\)", comment) for comment, field in re.findall(r"((?:  ///.*\n)+)  \w+ (\w+) = ", header)}


def check(root):
    releases = begins((root / "src/tensor/torch_rules.cpp").read_text())
    comments = cited((root / "src/tensor/torch_rules.h").read_text())
    problems = [f"torch_rules.h: {field} cites {release}, torch_rules.cpp has it from {releases.get(field, 'no release')} on" for field, found in comments.items() for release in found if release != releases.get(field)]
    return problems + [f"torch_rules.cpp sets {field}, which torch_rules.h does not describe" for field in releases if field not in comments and field not in UNDESCRIBED]


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "torch rules: every rule cites the release that it begins in")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
