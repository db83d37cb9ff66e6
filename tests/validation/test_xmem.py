"""The runs published with xMem (validation/xmem): the stored predictions keep their bars, and `tidemark run` still makes them."""

import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "xmem"
sys.path.insert(0, str(FOLDER))

import score  # noqa: E402
import table  # noqa: E402

RESULTS = score.stored_results()
TRANSFORMERS = [r for r in RESULTS if not table.is_cnn(r)]
CNN_RESULTS = [r for r in RESULTS if table.is_cnn(r)]


def figures(results):
    return table.figures([table.error(r) for r in table.fitted(results)])


@pytest.mark.parametrize("name, results, figure, bar", [
    ("transformers", TRANSFORMERS, "median", 0.0035),
    ("transformers", TRANSFORMERS, "p90", 0.035),
    # Missed, and known to be: the runs used cuDNN 9.1, which cannot be asked without a GPU (README, "Convolution workspaces").  Strict, so
    # that the day it is met it must be said here.
    pytest.param("CNNs", CNN_RESULTS, "median", 0.015, marks=pytest.mark.xfail(strict=True, reason="2.5 %: cuDNN 9.1 there, 9.8 here")),
], ids=lambda value: value if isinstance(value, str) else None)
def test_error_is_within_the_bar(name, results, figure, bar):
    assert figures(results)[figure] <= bar


@pytest.mark.parametrize("results", [TRANSFORMERS, CNN_RESULTS], ids=["transformers", "CNNs"])
def test_every_out_of_memory_run_is_foretold_and_none_falsely(results):
    wrong = [score.key_of(r) for r in results if table.we_foretell(r) != r["real_oom"]]
    assert wrong == []


def test_every_published_setting_has_a_result():
    assert [score.key_of(r) for r in RESULTS] == [score.key_of(row) for row in score.experiments()]


def test_the_facts_are_whole():
    for row in map(json.loads, (FOLDER / "rows.jsonl").read_text().splitlines()):
        assert row["ground_bytes"] % (1 << 20) == 0 and 0 < row["ground_bytes"] < row["gpu_total_bytes"], row["run"]
        assert row["gpu"] in score.CARDS and row["zero_grad_mode"] in (None, 0, 1, 2), row["run"]


def test_totals_are_those_of_the_catalogue():
    cards = {card["name"]: card["total_bytes"] for card in json.loads((ROOT / "data" / "gpus.json").read_text())["cards"]}
    assert {row["gpu"]: row["gpu_total_bytes"] for row in RESULTS} == {name: cards[name] for name in score.CARDS}


def test_every_difference_of_a_transformer_has_a_named_cause():
    assert [score.key_of(r) for r in TRANSFORMERS if table.why(r) == "not explained"] == []


def test_readme_is_what_the_results_say():
    assert (FOLDER / "README.md").read_text() == table.readme(RESULTS), "run: python validation/xmem/score.py table"


# One of each: model, optimizer, card, round, zero_grad mode, random lengths, at the limit, out of memory.
SAMPLE = [
    "Qwen3-4B Adafactor 1 a100-40gb 0", "gpt2 AdamW 27 rtx-3060 -", "gpt2 AdamW 42 rtx-4060 -", "opt-125m AdamW 38 rtx-3060 -",
    "distilgpt2 Adam 20 rtx-3060 -", "T5-small SGD 61 rtx-3060 1", "T5-small AdamW 68 rtx-3060 2", "T5-small SGD 36 rtx-4060 0",
    "T5-small AdamW 7 rtx-4060 1", "ConvNeXtTiny AdamW 400 rtx-3060 0", "MobileNetV2 AdamW 415 rtx-4060 -", "ResNet101 SGD 399 rtx-4060 -",
]


def missing_for(result):
    if not os.environ.get("TIDEMARK_PYTHON_26"):
        return "TIDEMARK_PYTHON_26 does not name a Python with torch 2.6.0 and transformers 4.52.4"
    if score.release_of(result) == "4.51.3" and not os.environ.get("TIDEMARK_TRANSFORMERS_451"):
        return "TIDEMARK_TRANSFORMERS_451 does not name a folder with transformers 4.51.3"
    if table.is_cnn(result) and score.cudnn_version() != result["versions"]["cudnn"]:
        return f"TIDEMARK_CUDNN_26 does not name cuDNN {result['versions']['cudnn']}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("key", SAMPLE)
def test_prediction_is_made_again_to_the_byte(key):
    result = next(r for r in RESULTS if score.key_of(r) == key)
    if missing := missing_for(result):
        pytest.skip(missing)
    report = score.run_once(result, score.PLAUSIBLE_LENGTHS[0], score.release_of(result))
    stored = {name: value for name, value in result["predicted"].items() if name in score.figures(report)}
    assert score.figures(report) == stored
