"""estimate-memory: accelerate's flags, and sizes by type that follow from the configuration."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

H, F, L, V = 64, 128, 2, 512
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": H, "intermediate_size": F, "num_hidden_layers": L, "num_attention_heads": 4, "vocab_size": V, "tie_word_embeddings": False}
LINEAR = 4 * H * H + 3 * H * F  # of a layer
LAYER = LINEAR + 2 * H
PARAMETERS = 2 * V * H + L * LAYER + H
INVERSE_FREQUENCIES = 2 * 4 * (H // 4 // 2)  # two buffers in fp32 (transformers: LlamaRotaryEmbedding, 5.24.0)


def nf4_bytes(weights):
    """Packed weights, scales of 64 in 8 bits, theirs of 256 in fp32, their mean and both codes (bitsandbytes: functional.py, quantize_4bit, 0.50.2)."""
    return weights // 2 + weights // 64 + 4 * -(-weights // (64 * 256)) + 4 + 4 * (16 + 256)


@pytest.fixture
def model(folders):
    (folders / "work" / "config.json").write_text(json.dumps(LLAMA))
    return "config.json"


@pytest.fixture
def sizes(tidemark, model):
    """sizes(*words) -> {dtype: row}"""

    def ask(*words):
        done = tidemark("estimate-memory", model, "--json", *words)
        assert done.returncode == 0, done.stderr
        return {row["dtype"]: row for row in json.loads(done.stdout)["rows"]}

    return ask


def test_every_flag_of_accelerate_is_accepted(tidemark, model):
    spec = importlib.util.find_spec("accelerate")
    if spec is None:
        pytest.skip("accelerate is not installed")
    source = (Path(spec.submodule_search_locations[0]) / "commands/estimate.py").read_text()
    flags = set(re.findall(r'add_argument\(\s*"(--\w+)"', source))
    assert flags == {"--library_name", "--dtypes", "--trust_remote_code"}
    done = tidemark("estimate-memory", model, "--library_name", "transformers", "--dtypes", "float32", "int4", "--trust_remote_code")
    assert done.returncode == 0, done.stderr
    assert flags <= set(re.findall(r"--\w+", tidemark("estimate-memory", "--help").stdout))


def test_the_default_types_are_those_of_accelerate(sizes):
    assert list(sizes()) == ["float32", "float16", "int8", "int4"]


def test_sizes_of_float_types_follow_from_the_parameters(sizes):
    rows = sizes("--dtypes", "float32", "float16", "bfloat16")
    assert {name: row["total_bytes"] for name, row in rows.items()} == {
        "float32": 4 * PARAMETERS + INVERSE_FREQUENCIES,
        "float16": 2 * PARAMETERS + INVERSE_FREQUENCIES,
        "bfloat16": 2 * PARAMETERS + INVERSE_FREQUENCIES,
    }
    assert rows["float32"]["largest_layer"] == {"name": "model.layers.0", "bytes": 4 * LAYER}


def test_quantized_sizes_are_those_of_bitsandbytes(sizes):
    rows = sizes("--dtypes", "int8", "int4")
    kept = 2 * (PARAMETERS - L * LINEAR) + INVERSE_FREQUENCIES
    scales = 4 * L * (4 * H + 2 * F + H)  # a float for each row (bitsandbytes: Int8Params, 0.50.2)
    assert rows["int8"]["total_bytes"] == kept + L * LINEAR + scales
    weights = L * (4 * [H * H] + 3 * [H * F])
    assert rows["int4"]["total_bytes"] == kept + sum(map(nf4_bytes, weights)) + 1024  # the map of 8-bit values, once
    assert all(row["trained"] == "adapters" for row in rows.values())


def test_training_is_what_predict_answers(sizes, tidemark, model, folders):
    row = sizes("--dtypes", "float16", "--batch", "4", "--seq", "128")["float16"]
    tidemark("predict", model, "--dtype", "fp16", "--optimizer", "adam", "--batch", "4", "--seq", "128", "--gpu", "h100-80gb", "--json", "r.json")
    peak = json.loads((folders / "work" / "r.json").read_text())["peak"]
    assert row["training_peak"] == {key: peak[key] for key in ("allocated_bytes", "reserved_bytes", "device_bytes")}
    assert row["trained"] == "all"


def test_the_table_has_the_columns_of_accelerate_and_says_what_it_took(tidemark, model):
    lines = tidemark("estimate-memory", model, "--batch", "2").stdout.splitlines()
    assert re.split(r"\s{2,}", lines[1].strip()) == ["dtype", "Largest Layer", "Total Size", "Training using Adam"]
    assert [line.split()[0] for line in lines[2:6]] == ["float32", "float16", "int8", "int4"]
    text = "\n".join(lines[6:])
    assert "training: batch 2, the peak on a NVIDIA H100 80GB HBM3 with its context" in text
    assert "assumed: a sample has 2048 tokens" in text and "the adapters of `--method lora` are trained" in text
    assert lines[-1] == "  does it fit: tidemark predict config.json --gpu h100-80gb"


def test_a_type_that_is_not_predicted_leaves_the_others(tidemark, folders):
    (folders / "work" / "conv.json").write_text(json.dumps({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 512, "n_positions": 64}))
    done = tidemark("estimate-memory", "conv.json", "--seq", "32")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words, code, says",
    [
        (["--dtypes", "float61"], USAGE, ["--dtypes", "no type of weights", "did you mean float16?"]),
        (["--library_name", "timm"], UNSUPPORTED, ["models of timm", "--from"]),
        (["--library_name", "other"], USAGE, ["models of other"]),
        (["--gpu", "h1000"], USAGE, ["h1000"]),
    ],
)
def test_wrong_flags_are_one_error(tidemark, model, words, code, says):
    refused(tidemark("estimate-memory", model, *words), code, *says)


def test_a_missing_model_is_one_error(tidemark):
    refused(tidemark("estimate-memory"), USAGE, "model_name")
