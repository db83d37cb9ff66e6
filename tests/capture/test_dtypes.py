"""What is cast under autocast alone: whether anything beside the name that takes the cast holds what was cast."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.oracle
HERE = pathlib.Path(__file__).resolve().parent


def test_what_a_cast_takes_the_name_of_dies_at_once_or_somebody_else_has_it():
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", os.environ["TIDEMARK_PYTHON"], str(HERE / "lives_on.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if ": " in line and line.endswith(("True", "False"))] == [
        "dies with its name: False", "dies later: True", "does not die: True", "is the caller's: False", "is not cast: False"], done.stderr[-2000:]
