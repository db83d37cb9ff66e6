"""What is cast under autocast alone: whether anything beside the name that takes the cast holds what was cast."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.oracle
HERE = pathlib.Path(__file__).resolve().parent


def run(script):
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", os.environ["TIDEMARK_PYTHON"], str(HERE / script)]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_a_cast_takes_the_name_of_dies_at_once_or_somebody_else_has_it():
    done = run("lives_on.py")
    assert [line for line in done.stdout.splitlines() if ": " in line and line.endswith(("True", "False"))] == [
        "dies with its name: False", "dies later: True", "does not die: True", "is the caller's: False", "is not cast: False"], done.stderr[-2000:]


def test_a_dtype_that_is_asked_of_a_weight_follows_it_and_what_is_cast_dies_where_the_cast_does():
    done = run("looks.py")
    lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    assert lines[:3] == ["look(self.patches.weight)", "$pixels = torch.Tensor.to($pixels, dtype(self.patches.weight))", "%0: T[2, 8] = call patches: Linear#1(0=$pixels)"], done.stderr[-2000:]
    assert lines[3] == "del $pixels"


def test_a_model_that_does_otherwise_under_autocast_minds_it():
    done = run("minds.py")
    assert [line for line in done.stdout.splitlines() if line.endswith(("True", "False"))] == ["casts True", "does the same False"], done.stderr[-2000:]


def test_what_is_cast_under_autocast_alone_dies_where_the_cast_does():
    done = run("casts.py")
    lines = [line.strip() for line in done.stdout.partition("class Adds")[2].partition("return")[0].splitlines()[1:-1]]
    assert lines == ["$1 = torch.Tensor.to($1, dtype($0))", "%0: T[2, 8] = torch.Tensor.add($0, $1)", "del $1", "%1: T[2, 8] = torch.abs(%0)", "del %0"], done.stdout + done.stderr[-2000:]
