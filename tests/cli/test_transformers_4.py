"""Transformers 4.57.6 without an environment of it: predictions against the allocations of real trainings, which are in transformers-4.57.6.json as tools/capture/prove.py found them."""

import hashlib
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/capture"))
from prove import allocations

TRAINED = json.loads(pathlib.Path(__file__).with_name("transformers-4.57.6.json").read_text())
LLAMA = {"model_type": "llama", "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 500}
ASKED = ("--batch", 2, "--seq", 64, "--gpu", "h200", "--torch", "2.11.0")
NO_PYTHON = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}


@pytest.fixture
def predicted(tidemark, folders):
    """predicted(config, *options) -> the report, or what was said in its place; the events are beside it."""

    def run(config, *options):
        work = folders / "work"
        (work / "config.json").write_text(json.dumps(config))
        done = tidemark("predict", "config.json", *options, "--json", "report.json", "--events", "events.txt", **NO_PYTHON)
        return json.loads((work / "report.json").read_text()) if done.returncode in (0, 1) else done

    return run


def told_of(report):
    return [row["what"] for row in report["assumptions"] if "transformers" in row["what"]]


@pytest.mark.parametrize("name", TRAINED)
def test_real_trainings_are_predicted_allocation_by_allocation(predicted, folders, name):
    trained = TRAINED[name]
    (folders / "work" / "spec.json").write_text(json.dumps(trained["spec"]))
    asked = ("--spec", "spec.json", "--gpu", "h200", "--memory", "4000GB", "--torch", "2.11.0", "--transformers", "4.57.6")
    assert told_of(predicted(trained["config"], *asked)) == ["the model is a program, captured of transformers 4.57.6 with torch 2.11.0"]
    rows = allocations(folders / "work" / "events.txt")
    assert len(rows) == trained["allocations"]
    assert hashlib.sha256("\n".join(f"{size} {freed}" for size, freed, _ in rows).encode()).hexdigest()[:32] == trained["sha256"]


def test_experts_that_are_modules_of_their_own_have_the_tokens_that_choose_them(predicted):
    mixtral = {"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "num_local_experts": 6, "num_experts_per_tok": 2, "vocab_size": 500}
    asked = (*ASKED, "--transformers", "4.57.6")
    balanced, skewed = (predicted(mixtral, *asked, "--moe-routing", how) for how in ("balanced", "skewed:1"))
    assert balanced["peak"]["allocated_bytes"] != skewed["peak"]["allocated_bytes"]
    grouped = predicted(mixtral, *ASKED, "--transformers", "5.17.0")
    assert balanced["peak"]["allocated_bytes"] != grouped["peak"]["allocated_bytes"]


def test_the_newest_of_the_same_first_number_answers_for_others_of_it(predicted):
    for release in ("4.57.1", "4.51.3"):
        said = told_of(predicted(LLAMA, *ASKED, "--transformers", release))
        assert said == [f"transformers {release} has not been compared with predictions: it is taken for 4.57.6, the nearest that has", "the model is a program, captured of transformers 4.57.6 with torch 2.11.0"]
    for release in ("5.2.0", "5.17.0"):
        assert not any("4.57.6" in what for what in told_of(predicted(LLAMA, *ASKED, "--transformers", release)))


def test_a_rotation_is_read_where_files_of_that_time_have_it(predicted):
    """As Llama 3.1's say it, and older ones."""
    usual = predicted(LLAMA, *ASKED, "--transformers", "4.57.6")
    factors = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    for rotation in ({"rope_type": "llama3", **factors}, {"type": "linear", "factor": 2.0}, None):
        said = predicted({**LLAMA, "rope_theta": 500000.0, "rope_scaling": rotation, "torch_dtype": "bfloat16"}, *ASKED, "--transformers", "4.57.6")
        assert said["peak"] == usual["peak"] and told_of(said) == told_of(usual)
    other = predicted({**LLAMA, "rope_scaling": {"type": "dynamic", "factor": 2.0}}, *ASKED, "--transformers", "4.57.6")
    assert other.returncode == 3 and 'rope_type is "dynamic"' in other.stderr  # which it does not hold for


def test_frozen_embeddings_are_not_asked_for_gradients(predicted):
    """gradient_checkpointing_enable does that since transformers 5, which keeps the outputs of what stands ahead of the first trained layer."""
    frozen = (*ASKED, "--checkpointing", "non_reentrant", "--freeze", "embed_tokens,layers.0")

    def allocated(release):
        return predicted(LLAMA, *frozen, "--transformers", release)["peak"]["allocated_bytes"]

    assert allocated("4.57.6") < allocated("5.17.0")


MOE = {
    "model_type": "mixtral",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 500,
    "output_router_logits": True,
}


def test_release_with_other_modules_is_not_answered_by_another(predicted):
    refused = predicted(MOE, *ASKED, "--transformers", "4.57.6")
    assert refused.returncode == 3 and " has other modules or tensors)" in refused.stderr and "output_router_logits" in refused.stderr
    assert predicted(MOE, *ASKED, "--transformers", "5.17.0")["fits"]


def test_release_that_answers_for_another_names_the_condition(predicted):
    report = predicted(LLAMA, *ASKED, "--transformers", "4.57.6", "--padding")
    said = report if not isinstance(report, dict) else told_of(report)
    assert any("the program of transformers 5." in what and "as that of 4.57.6: " in what for what in said), said
