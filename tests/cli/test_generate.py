"""`tidemark predict --generate`: the report of a prompt and its new tokens, without torch."""

import json

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

LLAMA = {
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 344,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1024,
    "max_position_embeddings": 512,
}
CACHE_BYTES_PER_TOKEN = 2 * 3 * 2 * 32 * 2  # keys and values, layers, heads, their width, bfloat16


@pytest.fixture
def ask(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps(LLAMA))

    def answer(*options):
        done = tidemark("predict", "config.json", "--gpu", "h100-80gb", *options, "--json", "r.json")
        return done, json.loads((folders / "work/r.json").read_text()) if done.returncode == 0 else None

    return answer


def test_report_has_both_phases_and_the_cache(ask):
    done, report = ask("--batch", "4", "--prompt", "100", "--generate", "20")
    (step,) = report["steps"]
    assert [phase["phase"] for phase in step["phases"]] == ["prefill", "decode"]
    cache = report["generation"]
    assert cache["prompt_tokens"] == 100 and cache["new_tokens"] == 20 and cache["cached_tokens"] == 119
    assert cache["cache_bytes"] == 4 * 119 * CACHE_BYTES_PER_TOKEN
    assert "prefill" in done.stdout and "decode" in done.stdout
    assert f"119 tokens in each of 4 samples, {CACHE_BYTES_PER_TOKEN} bytes per token" in done.stdout
    assert "generation: llama" in done.stdout and "train" not in done.stdout


def test_one_token_needs_no_decode(ask):
    _, report = ask("--prompt", "100", "--generate", "1")
    assert [phase["phase"] for phase in report["steps"][0]["phases"]] == ["prefill"]


def test_words_of_transformers_are_understood(ask):
    ours = ask("--seq", "64", "--generate", "5")[1]
    assert ask("--prompt", "64", "--max_new_tokens", "5")[1]["peak"] == ours["peak"]


def test_prompt_fills_positions_by_default(ask):
    assert ask("--generate", "12")[1]["generation"]["prompt_tokens"] == 500


def test_default_prompt_is_within_a_window_that_holds_it(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps({**LLAMA, "model_type": "mistral", "max_position_embeddings": 4096, "sliding_window": 2000}))

    def peak(*options):
        done = tidemark("predict", "config.json", "--gpu", "h100-80gb", "--generate", "100", *options, "--json", "r.json")
        assert done.returncode == 0, done.stderr
        return json.loads((folders / "work/r.json").read_text())["peak"]

    assert peak() == peak("--prompt", "1948")


def test_cache_that_is_too_large_names_the_phase(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps({**LLAMA, "max_position_embeddings": 1 << 20}))
    options = ["--gpu", "rtx-4090", "--memory", "1500MiB", "--batch", "512", "--prompt", "16", "--generate", "3000"]
    done = tidemark("predict", "config.json", *options)
    assert done.returncode == 1 and "does not fit" in done.stdout
    assert "decode" in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    "options, code, text",
    [
        (["--generate", "8", "--gpus", "2", "--parallel", "ddp"], USAGE, "on one GPU"),
        (["--generate", "8", "--loop", "sft_trainer"], USAGE, "it trains nothing"),
        (["--generate", "8", "--use-cache", "false"], USAGE, "without a cache"),
    ],
)
def test_refusal_names_the_option(ask, options, code, text):
    refused(ask(*options)[0], code, text)


def test_family_without_program_names_run(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps({"model_type": "bloom"}))
    done = tidemark("predict", "config.json", "--gpu", "h100-80gb", "--generate", "8")
    refused(done, UNSUPPORTED, "no program of bloom generates text", "tidemark run")
