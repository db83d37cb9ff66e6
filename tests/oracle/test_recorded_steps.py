"""Recordings of steps on several GPUs, made again: what tests/golden/steps holds the predictions against is what real PyTorch still does."""

import gzip
import os
import subprocess
import sys

import pytest
from harness import PYTHON, ROOT, TIDEMARK, versions_of

STORED = ROOT / "tests" / "golden" / "steps"


@pytest.mark.slow("recordings of torch 2.11.0 on several GPUs are still what it does")
@pytest.mark.parametrize("name", ["ddp_plain", "ddp_views", "ddp_accumulate", "zero1_plain", "zero2_plain", "zero3_plain", "fsdp1_plain", "fsdp2_plain", "tp_plan", "ep_full", "pp_1f1b_1", "tp_fsdp2_plain", "hsdp_mixed", "pp_fsdp2_plain_1"])
def test_a_recording_is_made_again(name, tmp_path):
    if not versions_of("torch")["torch"].startswith("2.11."):
        pytest.skip("tests/golden/steps holds what torch 2.11.0 does; other releases are stored as differences")
    command = [sys.executable, str(ROOT / "tools/trace/record_steps.py"), "--tidemark", TIDEMARK, "--python", PYTHON, "--out", str(tmp_path), "--only", name]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    again, stored = (gzip.decompress((folder / f"{name}.txt.gz").read_bytes()).decode().splitlines() for folder in (tmp_path, STORED))
    assert again == stored
