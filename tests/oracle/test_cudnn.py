"""Convolutions on the virtual GPU: the real cuDNN chooses the engine and says its workspace; what it cannot be asked is refused by name."""

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIDEMARK = os.environ.get("TIDEMARK_BIN", os.path.join(ROOT, "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", os.path.join(ROOT, ".venv/bin/python"))
sys.path.insert(0, os.path.join(ROOT, "python"))

from tidemark import cudnn_fetch  # noqa: E402

PROGRAM = """
import sys, torch
torch.backends.cudnn.allow_tf32 = "tf32" in sys.argv
torch.backends.cudnn.benchmark = "benchmark" in sys.argv
kind = torch.bfloat16 if "bf16" in sys.argv else torch.float32
layout = torch.channels_last if "channels_last" in sys.argv else torch.contiguous_format
layer = torch.nn.Conv2d(64, 64, 3, padding=1, bias=False).to("cuda", kind, memory_format=layout)
images = torch.empty(32, 64, 56, 56, device="cuda", dtype=kind).to(memory_format=layout)
for _ in range(2):
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = layer(images)
    print("workspace", torch.cuda.max_memory_allocated() - before - result.nbytes)
    del result
"""


def run(folder, program, *arguments, gpu="a100-80gb", **environment):
    (folder / "program.py").write_text(program)
    return subprocess.run(
        [TIDEMARK, "run", "--gpu", gpu, "--keep-going", "--", PYTHON, str(folder / "program.py"), *arguments],
        capture_output=True, text=True, timeout=900, env={**os.environ, **environment},
    )


def workspaces(folder, *arguments, **options):
    done = run(folder, PROGRAM, *arguments, **options)
    if "tidemark: cuDNN: not found" in done.stderr:
        pytest.skip("no cuDNN 9.8 or later here")
    found = [int(size) for size in re.findall(r"workspace (\d+)", done.stdout)]
    assert len(found) == 2, done.stderr
    return found


def test_layout_is_converted_in_the_workspace(tmp_path):
    # Tensor cores take NHWC: an NCHW input is copied in the workspace, so it is at least as large as the input is.
    first, again = workspaces(tmp_path, "bf16")
    assert first == again >= 32 * 64 * 56 * 56 * 2
    assert workspaces(tmp_path, "bf16", "channels_last")[0] < first


def test_benchmark_allocates_for_the_greediest_plan_once(tmp_path):
    # Conv_v8.cpp: every plan is timed in one workspace that is large enough for all of them.
    first, again = workspaces(tmp_path, "tf32", "benchmark")
    assert first > again


@pytest.mark.parametrize("gpu", ["t4", "a100-80gb", "h100-80gb"])
def test_every_card_has_an_answer(tmp_path, gpu):
    workspaces(tmp_path, gpu=gpu)


def test_missing_library_is_an_error_that_says_how_to_get_it(tmp_path):
    done = run(tmp_path, PROGRAM, TIDEMARK_CUDNN_DIR=str(tmp_path))
    assert "workspace" not in done.stdout
    assert "python -m tidemark.cudnn_fetch" in done.stderr


@pytest.mark.parametrize(
    "call, code",
    [
        ("cudnnGetRNNWeightSpaceSize", "torch.nn.LSTM(8, 8).cuda()(torch.empty(2, 2, 8, device='cuda'))"),
        ("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
         "torch.nn.BatchNorm2d(8).cuda()(torch.empty(2, 8, 4, 4, device='cuda').to(memory_format=torch.channels_last))"),
    ],
)
def test_unknown_scratch_memory_is_refused_by_name(tmp_path, call, code):
    done = run(tmp_path, f"import torch\n{code}\nprint('reached')\n")
    assert "reached" not in done.stdout
    assert call in done.stderr and "CUDNN_STATUS_NOT_SUPPORTED" in done.stderr


def test_fetch_takes_the_version_nearest_to_torchs(tmp_path):
    assert cudnn_fetch.torch_pin(['nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux"', "sympy"]) == ("12", "9.1.0.70")
    assert cudnn_fetch.torch_pin(["sympy"]) is None
    assert cudnn_fetch.version_to_fetch("9.1.0.70") == "9.8.0.87"
    assert cudnn_fetch.version_to_fetch("9.19.0.56") == "9.19.0.56"
