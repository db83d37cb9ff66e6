"""Integers and booleans on the virtual GPU are true: some two hundred operations against the CPU's."""

import json

import pytest
from harness import PROGRAMS, tidemark_run

pytestmark = pytest.mark.oracle


def test_every_operation_agrees_with_the_host():
    done = tidemark_run(PROGRAMS / "true_integers.py", environment={"GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"})  # what is freed is not what it was
    line = next((text for text in done.stdout.splitlines() if text.startswith('{"passed"')), None)
    assert line, done.stdout + done.stderr
    result = json.loads(line)
    assert not result["failed"], "\n".join(f"{name}: {why}" for name, why in result["failed"].items())
    assert result["passed"] >= 190


def test_small_floats_that_follow_from_integers_are_true_until_others_are_written_into_them():
    done = tidemark_run(PROGRAMS / "floats_of_integers.py")
    line = next((text for text in done.stdout.splitlines() if text.startswith('{"failed"')), None)
    assert line, done.stdout + done.stderr
    result = json.loads(line)
    assert (result["failed"], result["passed"]) == ({}, 5)
    assert set(result["forgotten"].values()) == {0.0}


def test_fresh_integers_are_zero():
    done = tidemark_run(PROGRAMS / "integers_fresh.py")
    assert done.returncode == 0, done.stdout + done.stderr
    names = ("int64", "int32", "uint8", "bool")
    assert done.stdout.splitlines()[:9] == [f"torch.{name} 0" for name in names for _ in range(2)] + ["resized [7, 7]"]
