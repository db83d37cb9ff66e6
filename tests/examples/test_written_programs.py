"""`plan --write python=…`: the program that is written has the peak that the plan said, to the byte, by the real PyTorch."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from running import PYTHON, ROOT, TIDEMARK

pytestmark = pytest.mark.oracle

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 4096, "max_position_embeddings": 2048}
FIXED = "checkpointing,attention,optimizer_impl,allocator,micro_batch,data_parallel,tensor_parallel,pipeline,context_parallel,offload,reshard,bucket_view"
CASES = {
    "plain": [],
    "all_at_once": ["--grad-accumulation", 2, "--max-grad-norm", 1, "--checkpointing", "non_reentrant", "--optimizer-impl", "fused", "--dtype", "fp32", "--autocast", "bf16", "--attn", "eager"],
    "lora": ["--lora-r", 4, "--lora-target-modules", "all-linear", "--checkpointing", "reentrant", "--optimizer-impl", "loop"],
    "frozen": ["--freeze", "embed_tokens,layers.0.", "--optimizer", "sgd", "--momentum", 0.9],
    "scaled": ["--dtype", "fp32", "--autocast", "fp16", "--grad-scaler"],
    "ddp": ["--parallel", "ddp", "--ddp-gradient-as-bucket-view"],
    "zero2": ["--parallel", "zero2"],
    "zero3": ["--parallel", "zero3", "--checkpointing", "non_reentrant"],
}


@pytest.mark.parametrize("name", CASES)
def test_the_program_has_the_peak_that_was_planned(run, tmp_path, name):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps(LLAMA))
    gpus = 2 if "--parallel" in CASES[name] else 1
    program = tmp_path / "train.py"
    card = "h100-80gb" + ("x2" if gpus > 1 else "")
    words = [TIDEMARK, "plan", tmp_path / "model", "--batch", 2, "--seq", 256, *CASES[name], "--gpu", card, "--fix", FIXED, "--json", tmp_path / "plan.json", "--write", f"python={program}"]
    environment = {**os.environ, "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}", "VIRTUAL_ENV": str(Path(PYTHON).parent.parent)}
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads((tmp_path / "plan.json").read_text())["answers"][0]
    peak = answer["ranks"][0] if gpus > 1 else answer["peak"]
    assert f"{answer['peak']['allocated_bytes']} bytes allocated" in program.read_text()
    launcher = ["torchrun", "--nproc_per_node", gpus] if gpus > 1 else ["python"]
    finished = run([*launcher, program], options=("--steps", "3", *(("--gpus", str(gpus)) if gpus > 1 else ())), gpu="h100-80gb")
    assert finished.exit_code == 0, finished.errors
    assert finished.peak == [peak["allocated_bytes"], peak["reserved_bytes"]]
