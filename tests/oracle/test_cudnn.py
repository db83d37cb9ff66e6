"""cuDNN on the virtual GPU: the real library chooses engines and says what scratch memory they take; what it cannot be asked is refused by name."""

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIDEMARK = os.environ.get("TIDEMARK_BIN", os.path.join(ROOT, "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", os.path.join(ROOT, ".venv/bin/python"))
sys.path.insert(0, os.path.join(ROOT, "python"))

from tidemark import cudnn_fetch

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
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, **environment},
    )


def workspaces(folder, *arguments, **options):
    done = run(folder, PROGRAM, *arguments, **options)
    if "tidemark: cuDNN: not found" in done.stderr:
        pytest.skip("no cuDNN here")
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


@pytest.mark.slow("cuDNN answers for each generation of GPUs", keep=["h100-80gb"])
@pytest.mark.parametrize("gpu", ["t4", "a100-80gb", "h100-80gb"])
def test_every_card_has_an_answer(tmp_path, gpu):
    workspaces(tmp_path, gpu=gpu)


def test_missing_library_is_an_error_that_says_how_to_get_it(tmp_path):
    done = run(tmp_path, PROGRAM, TIDEMARK_CUDNN_DIR=str(tmp_path))
    assert "workspace" not in done.stdout
    assert "python -m tidemark.cudnn_fetch" in done.stderr


SCRATCH = """
import torch
import torch.nn.functional as F
asked = lambda: torch.cuda.memory_stats()["requested_bytes.all.allocated"]

def norm(layout):
    layer = torch.nn.BatchNorm2d(64).cuda()
    images = torch.empty(32, 64, 56, 56, device="cuda").to(memory_format=layout).requires_grad_()
    start = asked()
    result = layer(images)
    forward = asked() - start - result.nbytes
    result.backward(torch.empty_like(result))
    print("norm", "channels_last" if layout == torch.channels_last else "contiguous", forward)

norm(torch.contiguous_format)
norm(torch.channels_last)
for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
    layer = kind(128, 256, num_layers=2, dropout=0.1, bidirectional=True, batch_first=True).cuda()
    sequences = torch.empty(16, 50, 128, device="cuda", requires_grad=True)
    start = asked()
    result, _ = layer(sequences)
    print(kind.__name__, asked() - start - result.nbytes)
    result.sum().backward()
    torch.optim.AdamW(layer.parameters()).step()
scores = torch.empty(50, 16, 20, device="cuda", requires_grad=True)
labels = torch.ones(16 * 30, dtype=torch.int32)
F.ctc_loss(scores, labels, (50,) * 16, (30,) * 16).backward()
print("ctc done")
"""


def scratch(folder, **options):
    done = run(folder, SCRATCH, **options)
    if "tidemark: cuDNN: not found" in done.stderr:
        pytest.skip("no cuDNN here")
    assert "ctc done" in done.stdout, done.stderr
    return {name: int(size) for name, size in re.findall(r"^(norm \w+|LSTM|GRU|RNN) (\d+)$", done.stdout, re.M)}


def test_batch_norm_says_its_scratch_memory(tmp_path):
    found = scratch(tmp_path)
    # NCHW keeps mean and inverse deviation, fp32; NHWC has besides what the persistent kernels take.
    assert found["norm contiguous"] == 2 * 64 * 4
    assert found["norm channels_last"] > found["norm contiguous"]


@pytest.mark.slow("LSTM and GRU through cuDNN")
def test_recurrent_layers_train(tmp_path):
    found = scratch(tmp_path)
    # The gates of every cell are kept: 4 of an LSTM, 3 of a GRU, 1 of an RNN, for 2 layers of 2 directions.
    cells = 2 * 2 * 16 * 50 * 256 * 4
    assert found["LSTM"] > 4 * cells and found["GRU"] > 3 * cells and found["RNN"] > cells
    assert found["LSTM"] > found["GRU"] > found["RNN"]


GRADIENT = """
import torch
layer = torch.nn.Conv2d(384, 768, 2, stride=2, bias=False).to("cuda", memory_format=torch.channels_last)
images = torch.empty(489, 384, 5, 5, device="cuda").to(memory_format=torch.channels_last).requires_grad_()
result = layer(images)
before = torch.cuda.memory_stats()["requested_bytes.all.allocated"]
torch.autograd.grad(result, images, torch.empty_like(result))
print("workspace", torch.cuda.memory_stats()["requested_bytes.all.allocated"] - before - images.nbytes - result.nbytes)
"""


@pytest.mark.slow("cuDNN 9.1, of torch 2.6")
def test_cudnn_before_the_device_less_interface_answers(tmp_path):
    # cuDNN 9.1, which torch 2.6 comes with, is asked through a handle; 9.8 answers the same question with 22,745,104 bytes.
    python = os.environ.get("TIDEMARK_PYTHON_26", os.path.join(ROOT, ".venv-torch-2.6/bin/python"))
    folder = os.environ.get("TIDEMARK_CUDNN_DIR") or os.path.join(os.path.dirname(python), "../lib/python3.11/site-packages/nvidia/cudnn/lib")
    packages = os.path.join(folder, "../../..")
    if not os.path.isdir(packages) or not any(name.startswith("nvidia_cudnn_cu12-9.1.0") for name in os.listdir(packages)):
        pytest.skip("needs torch 2.6 and its cuDNN")
    (tmp_path / "program.py").write_text(GRADIENT)
    done = subprocess.run([TIDEMARK, "run", "--gpu", "rtx-3060", "--keep-going", "--", python, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=900)
    assert re.findall(r"workspace (\d+)", done.stdout) == ["10727440"], done.stderr


@pytest.mark.slow("cudnn.benchmark of the old interface")
def test_benchmark_of_the_old_interface_is_refused_by_name(tmp_path):
    done = run(tmp_path, PROGRAM, "benchmark", TORCH_CUDNN_V8_API_DISABLED="1")
    assert "workspace" not in done.stdout
    assert "cudnnFindConvolutionForwardAlgorithmEx" in done.stderr and "CUDNN_STATUS_NOT_SUPPORTED" in done.stderr


def test_old_interface_answers(tmp_path):
    first, again = workspaces(tmp_path, TORCH_CUDNN_V8_API_DISABLED="1")
    assert first == again


@pytest.mark.slow("cuDNN downloaded for a torch without one")
def test_fetch_takes_the_version_nearest_to_torchs(tmp_path):
    assert cudnn_fetch.torch_pin(['nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux"', "sympy"]) == ("12", "9.1.0.70")
    assert cudnn_fetch.torch_pin(["sympy"]) is None
    assert cudnn_fetch.version_to_fetch("9.1.0.70") == "9.1.0.70"
    assert cudnn_fetch.version_to_fetch("8.9.2.26") == "9.1.0.70"
    assert cudnn_fetch.version_to_fetch("9.19.0.56") == "9.19.0.56"
