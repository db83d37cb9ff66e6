"""Real vLLM, unmodified, in an environment without NVIDIA's packages (tools/requirements/vllm-0.33.txt)."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build" / "release" / "apps" / "cli" / "tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", sys.executable)
GPU = "h100-80gb"
LENGTH = 4096
MODEL = {
    "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14,
    "num_key_value_heads": 2, "vocab_size": 151936, "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "tie_word_embeddings": True,
    "torch_dtype": "bfloat16", "eos_token_id": 1999, "hidden_act": "silu",
}  # fmt: skip
TOKENIZER = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
one = Tokenizer(models.WordLevel({f"t{i}": i for i in range(2000)}, unk_token="t0"))
one.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=one, unk_token="t0", eos_token="t1999", pad_token="t1").save_pretrained(sys.argv[1])
"""
SCRIPT = """
import sys
from vllm import LLM, SamplingParams
if __name__ == "__main__":
    engine = LLM(model=sys.argv[1], load_format="dummy", enforce_eager=True, max_model_len=int(sys.argv[2]), gpu_memory_utilization=float(sys.argv[3]), enable_sleep_mode="sleep" in sys.argv)
    made = engine.generate([{"prompt_token_ids": [5] * 100}], SamplingParams(max_tokens=8, ignore_eos=True))
    print("tokens", list(made[0].outputs[0].token_ids), flush=True)
    if "sleep" in sys.argv:
        engine.sleep(level=1)
        engine.wake_up()
"""

HAS_VLLM = subprocess.run([PYTHON, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"]).returncode == 0
pytestmark = [pytest.mark.skipif(not HAS_VLLM, reason="no vllm in this environment"), pytest.mark.slow("vLLM takes a minute to start")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen2.5-0.5b")
    (folder / "config.json").write_text(json.dumps(MODEL))
    subprocess.run([PYTHON, "-c", TOKENIZER, str(folder)], check=True, capture_output=True)
    return folder


def run(folder, *command, options=(), environment=None):
    """(finished process, report)."""
    path = folder / "report.json"
    words = [TIDEMARK, "run", "--gpu", GPU, "--json", str(path), *options, "--", *map(str, command)]
    variables = {**os.environ, "TMPDIR": str(folder), "VLLM_USE_FLASHINFER_SAMPLER": "0", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", **(environment or {})}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=1800)
    return done, json.loads(path.read_text()) if path.exists() else None


def script(folder, model, *words, environment=None):
    file = folder / "engine.py"
    file.write_text(SCRIPT)
    return run(folder, PYTHON, file, model, *words, environment=environment)


def printed_tokens(done):
    return int(re.search(r"GPU KV cache size: ([\d,]+) tokens", done.stdout + done.stderr)[1].replace(",", ""))


def terms_of(report):
    return {row["name"]: row["bytes"] for row in report["serving"]["terms"]}


def check_figures(done, report):
    """The report has what the engine prints, and the engine's own subtraction holds."""
    terms, cache = terms_of(report), report["serving"]["kv_cache"]
    assert cache["tokens"] == printed_tokens(done)
    left = terms["requested"] - terms["weights"] - terms["non-torch and fragments"] - terms["peak activation"] - terms.get("CUDA graphs, estimated", 0)
    assert left == terms["left for the KV cache"]
    assert 0 <= left - cache["bytes"] < cache["bytes"] // cache["blocks"]  # less than a block
    by_category = {row["name"]: row["bytes"] for row in report["at_peak"]["by_category"]}
    assert by_category["kv_cache"] >= cache["bytes"]
    assert report["consistent"]


@pytest.mark.parametrize("processes", ["0", "1"])
def test_vllm_sizes_its_cache(model, tmp_path, processes):
    done, report = script(tmp_path, model, LENGTH, 0.9, environment={"VLLM_ENABLE_V1_MULTIPROCESSING": processes})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check_figures(done, report)
    assert "tokens [0, 0, 0, 0, 0, 0, 0, 0]" in done.stdout  # ids that a Triton kernel should have written
    assert "starts and serves 1,024 sequences of 4,096 tokens" in report["verdict"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_compiled_engine_captures_its_graphs(model, tmp_path):
    options = ("--load-format", "dummy", "--max-model-len", LENGTH, "--port", free_port())
    done, report = run(tmp_path, Path(PYTHON).with_name("vllm"), "serve", model, *options, environment={"VLLM_CACHE_ROOT": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check_figures(done, report)
    terms = terms_of(report)
    assert 0 < terms["CUDA graphs"] < terms["CUDA graphs, estimated"]
    assert "compiled 0 graphs" not in done.stdout


def test_vllm_serve_ends_after_its_requests(model, tmp_path):
    port = free_port()
    options = ("--load-format", "dummy", "--enforce-eager", "--max-model-len", LENGTH, "--port", port)
    before = set(os.listdir("/dev/shm"))
    done, report = run(tmp_path, Path(PYTHON).with_name("vllm"), "serve", model, *options, options=("--requests", "3"))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check_figures(done, report)
    assert report["serving"]["requests"] == {"sent": 3, "answered": 3}
    assert set(os.listdir("/dev/shm")) <= before
    with socket.socket() as one:
        one.bind(("0.0.0.0", port))


def test_vllm_refuses_what_does_not_fit(model, tmp_path):
    done, report = script(tmp_path, model, 32768, 0.03)
    assert done.returncode == 1
    assert report["fits"] is False
    assert report["verdict"].startswith("does not start: vLLM refuses: "), report["verdict"]
    assert "KV cache" in report["verdict"] or "cache blocks" in report["verdict"]


def test_sleeping_memory_leaves_the_device(model, tmp_path):
    done, report = script(tmp_path, model, LENGTH, 0.9, "sleep", environment={"VLLM_ENABLE_V1_MULTIPROCESSING": "0"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check_figures(done, report)
    assert report["fits"]
