"""What is cast under autocast alone has a name of its own, and dies by itself."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.oracle
HERE = pathlib.Path(__file__).resolve().parent


def run(script):
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", os.environ["TIDEMARK_PYTHON"], str(HERE / script)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_dtype_that_is_asked_of_a_weight_follows_it_and_what_is_cast_dies_where_the_cast_does():
    done = run("looks.py")
    lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    assert lines[:4] == ["look(self.patches.weight)", "%0: T[2, 8] view = torch.Tensor.to($pixels, dtype(self.patches.weight))", "%1: T[2, 8] = call patches: Linear#1(0=%0)", "del %0"], done.stderr[-2000:]


def test_a_model_that_does_otherwise_under_autocast_minds_it():
    done = run("minds.py")
    assert [line for line in done.stdout.splitlines() if line.endswith(("True", "False"))] == ["casts True", "does the same False"], done.stderr[-2000:]


def test_what_is_cast_under_autocast_alone_dies_where_the_cast_does():
    done = run("casts.py")
    lines = [line.strip() for line in done.stdout.partition("class Adds")[2].partition("return")[0].splitlines()[1:-1]]
    assert lines == ["%0: T[2, 8] view = torch.Tensor.to($1, dtype($0))", "%1: T[2, 8] = torch.Tensor.add($0, %0)", "del %0", "%2: T[2, 8] = torch.abs(%1)", "del %1"], done.stdout + done.stderr[-2000:]
    lines = [line.strip() for line in done.stdout.partition("class Biased")[2].partition("return")[0].splitlines()[1:-1]]
    assert lines == ["%0: T[8] view = torch.Tensor.to(self.bias, dtype($0))", "%1: T[2, 8] = torch.Tensor.add($0, %0)", "del %0", "%2: T[2, 8] = torch.abs(%1)", "del %1"], done.stdout + done.stderr[-2000:]
