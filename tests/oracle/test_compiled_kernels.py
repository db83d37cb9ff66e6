"""Kernels that are compiled at run time or come from other packages: NVRTC, Triton, Liger, torch.compile, bitsandbytes, custom libraries."""

import re
import shutil
import subprocess

import pytest
from harness import PROGRAMS, PYTHON, ROOT, report_of, tidemark_run

pytestmark = pytest.mark.oracle


def needs(package, of=""):
    """Skips where the programs' interpreter has no such package, or, where `of` names one of its modules, where that refuses to be imported."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    if subprocess.run([PYTHON, "-c", code], check=False).returncode:  # looked up, not imported: torch imports only over the stand-ins
        pytest.skip(f"no {package}")
    if of and (refused := re.search("ImportError: (.*)", tidemark_run("-c", f"import {of}").stderr)):
        pytest.skip(refused[1])


EXAMPLES = ROOT / "examples"
SMALL = ("--layers", 2, "--hidden", 512, "--batch", 4, "--sequence", 1024)


def peak_of(program, *arguments, folder, **more):
    """Allocated peak in bytes, which the script's own last line must confirm."""
    return checked(program, *arguments, folder=folder, **more)["peak"]["allocated_bytes"]


def checked(program, *arguments, folder, **more):
    """The report; the peak that the script's own last line tells is in it, with what compiling had."""
    report, output = report_of(program, *arguments, folder=folder, **more)
    own = next(line for line in output.splitlines() if line.startswith("peak "))
    peak = report["peak"]
    told = report.get("compiling", {"peak_allocated_bytes": peak["allocated_bytes"], "peak_reserved_bytes": peak["reserved_bytes"]})
    assert [told["peak_allocated_bytes"], told["peak_reserved_bytes"]] == [int(word) for word in own.split()[1:3]]
    return report


def test_a_users_own_triton_kernel(tmp_path):
    needs("triton")
    report, output = report_of(PROGRAMS / "triton_kernel.py", folder=tmp_path)
    assert "target 80 spills 0" in output  # compiled for the card's architecture
    assert "chosen BLOCK: 128, num_warps: 2" in output  # the first configuration: every launch takes as long
    assert "'max_shared_mem': 166912" in output
    assert any("autotuning" in assumption["what"] for assumption in report["assumptions"])


@pytest.mark.slow("Liger on the virtual GPU")
def test_liger_never_holds_the_logits(tmp_path):
    needs("liger_kernel", of="liger_kernel.transformers.monkey_patch")
    arguments = (*SMALL, "--vocabulary", 32000)
    fused = peak_of(EXAMPLES / "llama_liger.py", *arguments, folder=tmp_path)
    plain = peak_of(EXAMPLES / "llama_liger.py", *arguments, "--without-liger", folder=tmp_path)
    logits = 4 * 1024 * 32000 * 2
    assert fused < plain - 3 * logits


def cache_in(folder):
    return {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


@pytest.mark.slow("a training step under torch.compile")
def test_torch_compile_of_a_whole_step(tmp_path):
    compiled = peak_of(EXAMPLES / "llama_compile.py", *SMALL, folder=tmp_path, environment=cache_in(tmp_path), timeout=600)
    eager = peak_of(EXAMPLES / "llama_compile.py", *SMALL, "--eager", folder=tmp_path)
    assert compiled < 0.6 * eager


@pytest.mark.slow("memory of compilation is separated from the training")
def test_what_compiling_adds_is_told_apart(tmp_path):
    """The peak is that of a run with a warm cache, to the byte."""
    needs("triton")
    cold, warm = (checked(PROGRAMS / "compiled_training.py", folder=tmp_path, environment=cache_in(tmp_path), timeout=600) for _ in range(2))
    assert cold["compiling"]["graphs"] == 2  # forward and backward
    assert warm.get("compiling", {"graphs": 0})["graphs"] == 0
    assert cold["compiling"]["peak_reserved_bytes"] > cold["peak"]["reserved_bytes"]
    assert cold["peak"] == warm["peak"] and cold["interval"] == warm["interval"]
    whole = lambda report: sum(row["bytes"] for row in report["at_peak"]["by_operation"])
    assert whole(cold) == whole(warm) == warm["peak"]["allocated_bytes"]


@pytest.mark.slow("checkpoints within torch.compile")
def test_a_checkpoint_inside_a_compiled_graph(tmp_path):
    needs("triton")
    outputs = [report_of(PROGRAMS / "compiled_checkpoint.py", *more, folder=tmp_path, timeout=600)[1] for more in (["--keep"], [])]
    kept, computed_again = (int(next(line for line in reversed(output.splitlines()) if line.startswith("peak ")).split()[1]) for output in outputs)
    attention = 4 * 1024 * 8 * 64 * 2
    assert computed_again <= kept - 3 * 3 * attention  # queries, keys and values of all blocks but the one that is in work


@pytest.mark.slow("flex attention, compiled")
def test_flex_attention_knows_its_blocks(tmp_path):
    needs("triton")
    output = report_of(PROGRAMS / "flex_attention.py", folder=tmp_path, timeout=600)[1]
    assert "blocks 20\n" in output  # of 64: two documents of four, each with the lower triangle of its own


@pytest.mark.slow("bitsandbytes with 8-bit optimizers", keep=["adamw_8bit"])
@pytest.mark.parametrize("optimizer", ["paged_adamw_8bit", "adamw_8bit"])
def test_qlora(tmp_path, optimizer):
    needs("bitsandbytes")
    peak = peak_of(EXAMPLES / "llama_qlora.py", "--layers", 2, "--hidden", 512, "--sequence", 256, "--optimizer", optimizer, folder=tmp_path)
    assert peak > 0


def test_a_library_with_an_unknown_function_is_refused_by_name(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    source, library, script = tmp_path / "user.c", tmp_path / "user.so", tmp_path / "script.py"
    source.write_text("int cublasXtCreate(void**); int go(void) { void* handle; return cublasXtCreate(&handle); }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    script.write_text(f"import ctypes, torch\ntorch.zeros(3, device='cuda')\nctypes.CDLL('{library}', mode=1).go()\n")
    done = tidemark_run(script)
    assert done.returncode == 4
    assert "cublasXtCreate" in done.stderr and "does not stand in for" in done.stderr
