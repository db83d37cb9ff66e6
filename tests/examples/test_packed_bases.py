"""LoRA over weights that GPTQ or AWQ packed, as gptqmodel's kernels in PyTorch run them: the user's own function is captured, and the prediction is held to its training."""

import os
import subprocess
from pathlib import Path

import pytest
from running import PYTHON, ROOT, TIDEMARK, Run, environment_with

pytestmark = pytest.mark.oracle

BASE = os.environ.get("TIDEMARK_PYTHON", str(ROOT / ".venv/bin/python"))  # it asks for torch 2.14 or later
PACKAGES = [["--no-deps", "--no-build-isolation", "gptqmodel==7.7.0"], ["--no-deps", "optimum==2.3.0", "device-smi", "logbar", "tokenicer", "threadpoolctl", "pypcre", "defuser", "torchao", "maturin"]]
# gptqmodel 7.7.0 sets it when it is imported (utils/…: "Auto setting PYTORCH_ALLOC_CONF").
ALLOCATOR = "expandable_segments:True,max_split_size_mb:256,garbage_collection_threshold:0.7"
SIZES = ("2", "96")
LINEAR_MODULES = 2 * 7


@pytest.fixture(scope="module")
def python():
    return environment_with("gptqmodel", PACKAGES, BASE)


# Of GPTQ the two tables of shifts that a module has are views of one; a program has them as two.
@pytest.mark.slow("LoRA over GPTQ and AWQ; gptqmodel is installed for it")
@pytest.mark.parametrize("method, more", [("awq", 0), ("gptq", LINEAR_MODULES * 512)])
def test_what_is_planned_is_what_it_takes(python, tmp_path, method, more):
    program = tmp_path / "packed_bases.py"
    program.write_text((ROOT / "tests/examples/packed_bases.py").read_text())
    # Compiled, the same numbers are made by one kernel; without, a program says what it does.
    environment = {**os.environ, "PATH": f"{python.parent}:{Path(PYTHON).parent}:{os.environ['PATH']}", "VIRTUAL_ENV": str(python.parent.parent), "HF_HUB_OFFLINE": "1", "TORCHDYNAMO_DISABLE": "1"}

    def tidemark(*words):
        return subprocess.run([TIDEMARK, *map(str, words)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)

    trained = Run(tidemark("run", "--gpu", "h100-80gb", "--steps", "3", "--json", "report.json", "--", python, program, method, *SIZES), tmp_path)
    assert trained.exit_code == 0, trained.errors
    predicted = tidemark("predict", "--from", f"packed_bases.py:{method}", "--batch", SIZES[0], "--seq", SIZES[1], "--gpu", "h100-80gb", "--torch", "2.15.0", "--allocator", ALLOCATOR, "--json", "report.json")
    assert predicted.returncode == 0, predicted.stderr
    assert Run(predicted, tmp_path).peak[0] - trained.peak[0] == more
