"""How far estimated step times are off, and how well they rank: the state of each bar, as it is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
MISSED = {"vtrain, group several nodes: kendall_tau at least 0.80"}
MET = {
    "llm-foundry, gpu a100-40gb: median at most 15.00 %",
    "llm-foundry, gpu a100-80gb: median at most 15.00 %",
    "llm-foundry, gpu h100-80gb: median at most 15.00 %",
    "peft: kendall_tau at least 0.80",
    "torchtitan, group eager: median at most 15.00 %",
    "vtrain, group one node: kendall_tau at least 0.80",
    "vtrain, group one node: median at most 15.00 %",
    "vtrain, group several nodes: median at most 15.00 %",
}


def asked(*arguments):
    return subprocess.run([TIDEMARK, "validate", "--step-times", *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def result():
    done = asked("--json", "-")
    assert done.returncode == 1, done.stderr  # while a bar is missed
    return json.loads(done.stdout)


def test_bars_are_in_the_state_that_is_known(result):
    assert {bar["bar"] for bar in result["bars"] if bar["met"]} == MET
    assert {bar["bar"] for bar in result["bars"] if not bar["met"]} == MISSED
    assert all(bar["why"] for bar in result["bars"])


def test_every_row_is_scored_or_left_out_with_a_reason(result):
    rows = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "validation/step_times").glob("*/rows.jsonl"))
    assert len(result["rows"]) + len(result["left_out"]) == rows
    assert all(row["estimated_seconds"] > 0 for row in result["rows"])


def test_what_is_wrong_in_a_row_is_said(tmp_path):
    info = {"schema": "tidemark.step-times/1", "name": "mine"}
    row = {"id": "a", "source": "s", "gpu": "t4", "seconds": 1, "spec": {"model": {"model_type": "gpt2"}, "seq": 16}}
    for broken, words in (
        ({"seconds": 0}, '"seconds" is missing'),
        ({"gpu": "h1000"}, "h1000"),
        ({"spec": {"model": {"model_type": "gpt2"}, "sek": 16}}, "sek"),
        ({"sources": "s"}, "sources"),
        ({"kernels": "t4-of-old"}, 'no row "t4-of-old"'),
    ):
        (tmp_path / "corpus.json").write_text(json.dumps(info))
        (tmp_path / "rows.jsonl").write_text(json.dumps(row | broken) + "\n")
        done = asked(str(tmp_path))
        assert done.returncode == 2 and words in done.stderr, done.stderr


def test_a_folder_of_ones_own_is_scored(tmp_path):
    """Two ways of the same: the one that takes longer here takes longer there."""
    (tmp_path / "corpus.json").write_text(json.dumps({"schema": "tidemark.step-times/1", "name": "mine"}))
    spec = {"model": {"model_type": "gpt2", "n_layer": 2}, "batch": 8, "seq": 256}
    row = {"id": "a", "source": "s", "gpu": "t4", "seconds": 0.1, "spec": spec, "ranked_among": "both"}
    slower = row | {"id": "b", "seconds": 0.2, "spec": spec | {"checkpointing": "non_reentrant"}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(slower) + "\n")
    done = asked(str(tmp_path), "--json", "-")
    assert done.returncode == 0, done.stderr
    [group] = json.loads(done.stdout)["groups"]
    assert group["n"] == 2 and group["pairs"] == 1 and group["kendall_tau"] == 1
