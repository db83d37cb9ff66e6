"""Rivals on xMem's runs (validation/rivals): every one has answered or refused every training, formulas are what they cite, tables are current."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "rivals"
sys.path.insert(0, str(FOLDER))

import guide
import rivals
import rivals_table
import training

import estimate

TRAININGS = {one.id: one for one in training.trainings()}
STORED = estimate.stored()
GPT2 = "gpt2 AdamW 27 rtx-3060 -"
GPT2_PARAMETERS = 124_439_808


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_every_training_is_answered_or_refused(name):
    assert [key for key, rival in STORED if rival == name] == list(TRAININGS)


def test_an_answer_is_bytes_or_a_reason():
    for key, answer in STORED.items():
        assert set(answer) == {"id", "estimator", "bytes", "refused", "version", "seconds"}, key
        assert key[0] in TRAININGS and key[1] in rivals.RIVALS, key
        assert (answer["bytes"] is None) != (answer["refused"] is None), key
        assert answer["bytes"] is None or (isinstance(answer["bytes"], int) and answer["bytes"] > 0), key
        assert answer["refused"] is None or len(answer["refused"]) > 10, key
        assert answer["version"], key


def test_the_comparison_is_over_at_least_90_trainings():
    assert len(rivals_table.runs()) == 97
    assert {row["id"] for row in rivals_table.runs()} == set(TRAININGS)


def test_cnns_are_those_of_the_corpus():
    for row in training.rows():
        assert training.training_of(row).is_cnn == (row["modality"] == "image"), row["id"]


@pytest.mark.parametrize("name", ["accelerate", "deepspeed-zero2", "deepspeed-zero3"])
def test_estimators_for_adam_answer_for_adam_alone(name):
    answered = {TRAININGS[key].optimizer for (key, rival), answer in STORED.items() if rival == name and answer["bytes"]}
    assert answered == {"Adam", "AdamW"}


# By hand, from the documents that the rivals cite.
def test_deepspeed_zero2_is_20_bytes_a_parameter():
    assert STORED[GPT2, "deepspeed-zero2"]["bytes"] == 20 * GPT2_PARAMETERS


def test_deepspeed_zero3_is_18_bytes_a_parameter_and_the_largest_layer():
    token_embedding = 50257 * 768
    assert STORED[GPT2, "deepspeed-zero3"]["bytes"] == 18 * GPT2_PARAMETERS + 4 * token_embedding


def test_accelerate_is_four_times_the_model():
    """Of the model it counts buffers too, and of a bool an eighth of a byte (accelerate.utils.modeling.dtype_byte_size): GPT-2's causal masks."""
    masks = 12 * (1024 * 1024 // 8 + 4)
    assert STORED[GPT2, "accelerate"]["bytes"] == 4 * (4 * GPT2_PARAMETERS + masks)
    assert STORED["T5-small Adam 25 rtx-3060 -", "accelerate"]["bytes"] == 4 * 4 * 60_506_624


def test_guide_of_gpt2():
    weights = gradients = 4 * GPT2_PARAMETERS
    adam = 8 * GPT2_PARAMETERS
    activations = 12 * 27 * 128 * (3 * 3072 + 6 * 768) * 4
    kv_cache = 2 * 27 * 12 * 128 * 64 * 4 * 12
    assert weights + gradients + adam + activations + kv_cache == 4_539_076_608
    assert STORED[GPT2, "guide"]["bytes"] == 5_446_891_930


def test_guide_of_its_own_example():
    """Gemma 3 4B in bfloat16, two sequences of 5,076 tokens: the guide prints 1.32 GB of KV cache."""
    nothing = dict(batch=2, sequence=5076, hidden=0, layers=34, intermediate=0, parameters=0, kv_heads=4, head_dim=256, state_bytes_per_parameter=8)
    assert guide.total_bytes(**nothing, value_bytes=2) / guide.OVERHEAD / 2**30 == pytest.approx(1.32, abs=0.005)


def one(measured, estimated, *, oom=False, verdicts=None):
    """On the RTX 3060; in hundredths of its memory."""
    percent = rivals_table.card_bytes({"gpu": "rtx-3060"}) / 100
    row = {
        "gpu": "rtx-3060",
        "measured_bytes": round(measured * percent),
        "out_of_memory": oom,
        "estimates": {tool: round(at * percent) for tool, at in (verdicts or {})},
        "verdicts": {tool: {"out_of_memory": False, "survived": survived} for (tool, _), survived in (verdicts or {}).items()},
    }
    return rivals_table.Compared(row, round(estimated * percent), estimated > 100, None)


@pytest.mark.parametrize(
    "compared, lowest, highest, saved_percent",
    [
        (one(50, 60), 0, 0, 40),  # at least the peak
        (one(50, 49.6), 0, 0, 50.4),  # the limit is rounded to two digits
        (one(50, 40), 0, 1, 0),  # less, and nobody tried
        (one(50, 40, verdicts={("xmem", 45): False}), 1, 1, 0),  # a higher limit was not survived
        (one(50, 40, verdicts={("xmem", 35): True}), 0, 0, 60),  # a lower one was
        (one(50, 110), 1, 1, -100),  # a false alarm costs the card
        (one(90, 110, oom=True), 0, 0, 100),  # foretold
        (one(90, 95, oom=True), 1, 1, -100),  # not foretold
    ],
)
def test_failure_and_saving_by_hand(compared, lowest, highest, saved_percent):
    found_lowest, found_highest, saved_bytes = rivals_table.failure_and_saving([compared])
    assert (found_lowest, found_highest) == (lowest, highest)
    assert saved_bytes == pytest.approx(saved_percent * rivals_table.card_bytes({"gpu": "rtx-3060"}) / 100, abs=2)


def test_mem_tracker_never_counts_more_than_is_allocated():
    """It tracks tensors: what PyTorch allocates besides (workspaces, the mask that it is not given) is more, never less."""
    predicted = {one["id"]: one for one in map(json.loads, (training.CORPUS / "predictions.jsonl").read_text().splitlines())}
    for (key, name), answer in STORED.items():
        if name == "mem-tracker" and answer["bytes"] is not None and not predicted[key]["out_of_memory"]:
            assert answer["bytes"] <= predicted[key]["allocated_bytes"], key


def test_table_command_prints_every_rival_for_every_group():
    done = subprocess.run([sys.executable, str(FOLDER / "rivals_table.py")], capture_output=True, text=True, check=True)
    for name in ["**Tidemark**", *rivals.RIVALS, *rivals.PUBLISHED]:
        assert done.stdout.count(f"| {name} |") == 3, name
    assert "### All: 97 runs" in done.stdout


def test_readme_is_what_is_stored():
    assert (FOLDER / "README.md").read_text() == rivals_table.readme(), "run: python validation/rivals/rivals_table.py --write"


@pytest.mark.slow("the rivals' own programs answer as is stored")
@pytest.mark.parametrize(
    "name, key",
    [
        ("accelerate", GPT2),
        ("deepspeed-zero2", GPT2),
        ("deepspeed-zero3", "T5-small Adam 25 rtx-3060 -"),
        ("guide", "opt-125m AdamW 38 rtx-3060 -"),
        ("mem-tracker", "distilgpt2 Adam 20 rtx-3060 -"),
        ("mem-tracker", "MobileNetV2 SGD 298 rtx-4060 -"),
    ],
)
def test_rival_answers_again_the_same(name, key):
    if not os.access(estimate.ENVIRONMENT / "bin" / "python", os.X_OK):
        pytest.skip("validation/rivals/install.sh has not made .venv-rivals")
    (answer,) = estimate.answers_to([(name, TRAININGS[key])])
    stored = STORED[key, name]
    assert (answer["bytes"], answer["refused"], answer["version"]) == (stored["bytes"], stored["refused"], stored["version"])
