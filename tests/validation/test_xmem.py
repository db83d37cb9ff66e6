"""The runs published with xMem (validation/xmem): the state of every bar, and `tidemark run` still makes the stored predictions."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "xmem"
sys.path.insert(0, str(FOLDER))

import readme

ROWS = readme.lines("rows.jsonl")
STORED = readme.lines("predictions.jsonl")


def validate(*options):
    done = subprocess.run([readme.tidemark(), "validate", str(FOLDER), *options, "--json", "-"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_state_of_every_bar():
    code, result = validate("--engine", "stored")
    states = [(bar["where"].get("modality", ""), bar["statistic"], bar["limit"], bar["met"]) for bar in result["bars"]]
    assert states == [("text", "n", 55, True), ("text", "median", 0.0035, True), ("text", "p90", 0.035, True), ("image", "n", 17, True), ("image", "median", 0.015, True), ("", "oom_agreement", 1, True)]
    assert code == 0


def test_a_cnn_has_its_parameters_when_the_measuring_begins_and_a_transformer_nothing():
    for name, row in ROWS.items():
        assert bool(row["run"].get("start_arguments")) == bool(STORED[name].get("in_use_at_start_bytes")) == (row["modality"] == "image"), name


def test_every_published_setting_has_a_stored_prediction():
    assert list(STORED) == list(ROWS) and len(ROWS) == 81


def test_the_facts_are_whole():
    for row in readme.settings():
        assert row["measured_bytes"] % (1 << 20) == 0 and 0 < row["measured_bytes"] < row["card_bytes"], row["id"]


def test_every_difference_of_a_transformer_has_a_named_cause():
    assert [r["id"] for r in readme.settings() if not readme.is_cnn(r) and readme.why(r) == "not explained"] == []


def test_readme_is_what_the_results_say():
    assert (FOLDER / "README.md").read_text() == readme.readme(readme.settings()), "run: python validation/xmem/readme.py"


# One of each: model, optimizer, card, round, zero_grad mode, random lengths, at the limit, out of memory.
SAMPLE = [
    "Qwen3-4B Adafactor 1 a100-40gb 0",
    "gpt2 AdamW 27 rtx-3060 -",
    "gpt2 AdamW 42 rtx-4060 -",
    "opt-125m AdamW 38 rtx-3060 -",
    "distilgpt2 Adam 20 rtx-3060 -",
    "T5-small SGD 61 rtx-3060 1",
    "T5-small AdamW 68 rtx-3060 2",
    "T5-small SGD 36 rtx-4060 0",
    "T5-small AdamW 7 rtx-4060 1",
    "ConvNeXtTiny AdamW 400 rtx-3060 0",
    "MobileNetV2 AdamW 415 rtx-4060 -",
    "ResNet101 SGD 399 rtx-4060 -",
]


def missing_for(row):
    needed = json.loads((FOLDER / "corpus.json").read_text())["environments"][row["run"]["environment"]]
    missing = [name for name in (needed["python"], *needed.get("variables", {}).values()) if not os.environ.get(name)]
    return f"{', '.join(missing)} not set: {needed['requirements']}" if missing else None


@pytest.mark.slow("stored predictions of xMem's settings, on torch 2.6")
@pytest.mark.parametrize("key", SAMPLE)
def test_prediction_is_made_again_to_the_byte(key):
    if missing := missing_for(ROWS[key]):
        pytest.skip(missing)
    _, result = validate("--engine", "run", "--only", key)
    (row,) = result["engines"][0]["rows"]
    stored = STORED[key]
    interval = [stored[bound]["device_over_start"] for bound in ("lowest_bytes", "highest_bytes")] if "device_over_start" in stored.get("lowest_bytes", {}) else None
    assert (row["predicted_bytes"], row["interval_bytes"], row["predicted_out_of_memory"]) == (stored["device_over_start_bytes"], interval, stored["out_of_memory"])
