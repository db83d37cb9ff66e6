#!/usr/bin/env python3
"""Every operation that ops.h declares is listed by `tidemark ops` and has a golden of ordered allocations: python check_ops.py ROOT"""
import pathlib
import re
import sys

# Inside other operations, and recorded with them: conversions, and what the first product takes.
PARTS = {"autocast_low", "autocast_f32", "take_matmul_workspace"}


def check(root):
    declared = set(re.findall(r"^(?:Tensor|Tensors|void|std::array<Tensor, \d>) (\w+)\(", (root / "src/ops/ops.h").read_text(), re.M)) - PARTS
    listed = set(re.findall(r'^    {"(\w+)",', (root / "src/ops/index.cpp").read_text(), re.M))
    recorded = {path.stem for path in (root / "tests/golden/ops").glob("*.json")}
    problems = [f"src/ops/index.cpp does not list {name}" for name in sorted(declared - listed)]
    problems += [f"src/ops/ops.h does not declare {name}" for name in sorted(listed - declared)]
    problems += [f"tests/golden/ops/{name}.json is missing: tools/trace/record_ops.py --only {name}" for name in sorted(listed - recorded)]
    problems += [f"tests/golden/ops/{name}.json is of no operation" for name in sorted(recorded - listed)]
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "ops: every operation is listed and recorded")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
