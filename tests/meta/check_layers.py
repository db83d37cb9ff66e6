#!/usr/bin/env python3
"""Fails on an #include that the layer table does not allow.

    base -> memory -> tensor -> ops -> nn -> { program, generation, train -> parallel } -> estimate -> plan -> validate -> io -> answers -> apps, bindings

A folder may include itself and what stands to its left.  usage: check_layers.py REPOSITORY
"""

import pathlib
import re
import sys

CHAIN = {
    "base": set(),
    "memory": {"base"},
    "tensor": {"base", "memory"},
    "ops": {"base", "memory", "tensor"},
    "nn": {"base", "memory", "tensor", "ops"},
    "program": {"base", "memory", "tensor", "ops", "nn"},
    "train": {"base", "memory", "tensor", "ops", "nn"},
    "generation": {"base", "memory", "tensor", "ops", "nn"},
    "parallel": {"base", "memory", "tensor", "ops", "nn", "train"},
}
CHAIN["estimate"] = set(CHAIN["parallel"]) | {"program", "parallel", "generation"}
CHAIN["plan"] = CHAIN["estimate"] | {"estimate"}
CHAIN["validate"] = CHAIN["plan"] | {"plan"}
CHAIN["io"] = CHAIN["validate"] | {"validate"}
CHAIN["answers"] = CHAIN["io"] | {"io"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# What only some folders may know: (pattern of the include, folders that may have it).
RESTRICTED = [
    (re.compile(r"^nlohmann/"), {"io", "apps", "bindings"}),
    (re.compile(r"^yaml-cpp/"), {"io"}),
    (re.compile(r"^CLI/"), {"apps"}),
    (re.compile(r"^event2/"), {"apps"}),
]


def layer_of(include):
    """The src/ folder that an include names, or None."""
    first = include.split("/", 1)[0]
    return first if "/" in include and first in CHAIN else None


def problems_of_file(path, owner, allowed):
    for include in INCLUDE.findall(path.read_text(errors="replace")):
        target = layer_of(include)
        if target and target != owner and target not in allowed:
            yield f"{path}: {owner} must not include {include}"
        for pattern, owners in RESTRICTED:
            if pattern.search(include) and owner not in owners:
                yield f"{path}: only {', '.join(sorted(owners))} may include {include}"


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cpp"))


def check(root):
    problems = []
    for path in sources(root / "src"):
        parts = path.relative_to(root / "src").parts
        owner = parts[0]
        if len(parts) != 2:
            problems.append(f"{path}: src/ has one level of folders")
        elif owner not in CHAIN:
            problems.append(f"{path}: src/{owner} is not in the table of layers")
        else:
            problems.extend(problems_of_file(path, owner, CHAIN[owner]))
    # The virtual GPU and its launcher's library know `base` and the card table alone.
    for path in sources(root / "virtual_gpu"):
        problems.extend(problems_of_file(path, "virtual_gpu", {"base", "memory"}))
    for folder in ("apps", "bindings"):
        for path in sources(root / folder):
            problems.extend(problems_of_file(path, folder, set(CHAIN)))
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "layers: every include is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
