"""`tidemark predict --generate`: the report of a prompt and its new tokens, without torch."""

import json
import pathlib
import sys

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools/trace"))
import generation_table

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


def test_cache_of_tokens_is_that_of_the_configuration(ask):
    _, report = ask("--batch", "2", "--prompt", "64", "--generate", "8")
    assert report["kv_cache"] == {"layers": 3, "bytes_per_token": CACHE_BYTES_PER_TOKEN}
    assert report["generation"]["cache_bytes"] == 2 * 71 * report["kv_cache"]["bytes_per_token"]


@pytest.mark.parametrize("family", generation_table.FAMILIES)
def test_cache_of_family_is_that_of_its_program(family, ask, folders):
    (folders / "work/config.json").write_text(json.dumps({"model_type": family, **generation_table.FAMILIES[family]}))
    _, report = ask("--batch", "2", "--prompt", "64", "--generate", "4")
    cache = report["kv_cache"]
    window = cache.get("window", {"layers": 0, "bytes_per_token": 0})
    size_of_windows = 8 * window["layers"]  # an int64 of each
    tokens = 2 * report["generation"]["cached_tokens"]
    assert report["generation"]["cache_bytes"] - size_of_windows == tokens * (cache["bytes_per_token"] + window["bytes_per_token"])


def test_explanation_shows_the_cache(ask, tidemark):
    ask("--prompt", "64", "--generate", "8")
    assert f"{CACHE_BYTES_PER_TOKEN} bytes per token in 3 layers" in tidemark("explain", "r.json").stdout


def sizes_of_events(folders):
    return [line.split()[0] for line in (folders / "work/events").read_text().splitlines()]


def test_generation_config_beside_config_is_read(ask, folders):
    def events(*options):
        ask("--batch", "2", "--prompt", "64", "--generate", "4", "--events", "events", *options)
        return sizes_of_events(folders)

    without = events()
    path = folders / "work/generation_config.json"
    path.write_text(json.dumps({"bos_token_id": 1, "eos_token_id": list(range(100)), "repetition_penalty": 1.05}))
    beside = events()
    assert len(beside) > len(without)
    path.rename(folders / "work/other.json")
    assert events() == without
    assert events("--generation-config", "other.json") == beside


def test_generation_config_that_is_not_simulated_is_refused(ask, folders):
    (folders / "work/generation_config.json").write_text(json.dumps({"num_beams": 4}))
    refused(ask("--prompt", "8", "--generate", "4")[0], UNSUPPORTED, "generation_config.json: num_beams")


@pytest.mark.parametrize(
    "options, code, text",
    [
        (["--generate", "8", "--gpus", "2", "--parallel", "ddp"], USAGE, "on one GPU"),
        (["--generate", "8", "--loop", "sft_trainer"], USAGE, "it trains nothing"),
        (["--generate", "8", "--use-cache", "false"], USAGE, "without a cache"),
        (["--generation-config", "other.json"], USAGE, "only generate() reads it"),
    ],
)
def test_refusal_names_the_option(ask, options, code, text):
    refused(ask(*options)[0], code, text)


def test_family_without_program_names_run(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps({"model_type": "codegen"}))
    done = tidemark("predict", "config.json", "--gpu", "h100-80gb", "--generate", "8")
    refused(done, UNSUPPORTED, "no program of codegen generates text", "tidemark run")


def test_attribute_of_the_prompts_pass_is_refused(tidemark):
    done = tidemark("predict", "phi-3-mini-128k-instruct", "--gpu", "h100-80gb", "--prompt", "64", "--generate", "4")
    refused(done, UNSUPPORTED, "the prompt's pass makes model.rotary_emb.long_inv_freq", "tidemark run")
