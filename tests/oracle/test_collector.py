"""Python's cycle collector decides when a user's tensors in cycles die: what we do inside the process must not bring its moments forward or put them off."""

import json

import pytest
from harness import PROGRAMS, tidemark_run

pytestmark = pytest.mark.oracle
STEPS = 60


def counted(folder, bare):
    out = folder / ("bare.json" if bare else "whole.json")
    program = PROGRAMS / "collector_counts.py"
    done = tidemark_run(*((PROGRAMS / "bare.py", program) if bare else (program,)), out, STEPS)
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text())


def growth(found):
    """Of each part of a step, by how much the count usually grows in it: in the steps in which it did not begin anew, in the middle one."""
    by_part = [[] for _ in range(found["ticks"])]
    for i, (before, after) in enumerate(zip(found["counts"], found["counts"][1:]), 1):
        by_part[i % found["ticks"]].append(after - before)
    return [sorted(part)[len(part) // 2] for part in by_part]


def test_a_step_counts_what_the_program_makes(tmp_path):
    bare, whole = counted(tmp_path, bare=True), counted(tmp_path, bare=False)
    assert sum(growth(bare)) > 20
    assert growth(whole) == growth(bare)
    assert abs(bare["collections"] - whole["collections"]) <= 1  # where in its count each began is another thing
