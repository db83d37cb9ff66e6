"""The table of ZeRO-2 cells (validation/parallel): every recorded peak is predicted to the byte."""

import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "parallel"
sys.path.insert(0, str(FOLDER))

import compare_tp  # noqa: E402
import compare_zero2  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "zero2_llava.jsonl").read_text().splitlines()]


def test_the_table_has_all_its_cells():
    cells = [(cell["ranks"], cell["sequence"], cell["batch"], cell["stage"], cell["checkpointing"]) for cell in (row["cell"] for row in ROWS)]
    assert len(set(cells)) == 48 and not [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_every_peak_is_equal_to_the_byte(ranks):
    model = json.loads((ROOT / "bench" / "llava.json").read_text())["model"]
    different = {}
    for row in ROWS:
        if row["cell"]["ranks"] != ranks:
            continue
        ours = compare_zero2.predicted(row["cell"], model)
        if [compare_zero2.peaks(row), *steps_of(row)] != [compare_zero2.peaks(ours), *steps_of(ours)]:
            different[str(row["cell"])] = (steps_of(row), steps_of(ours))
    assert different == {}


def test_tensor_parallel_cells_hold():
    """Their loop has one tensor for ids and labels, no mask, and keeps it to the end of the step; nothing else differs."""
    tensor_bytes, loss_bytes = 4 * 1024 * 8, 512
    rows = [row for row in map(json.loads, (FOLDER / "llama_strategies.jsonl").read_text().splitlines()) if row["cell"]["strategy"] == "tp"]
    assert len(rows) == 6
    for row in rows:
        ours, theirs = (compare_zero2.peaks(report) for report in (compare_tp.predicted(row["cell"]), row))
        assert ours["reserved_bytes"] == theirs["reserved_bytes"], row["cell"]
        assert ours["allocated_bytes"] - theirs["allocated_bytes"] in (2 * tensor_bytes, -tensor_bytes - loss_bytes), row["cell"]


def steps_of(report):
    return [(step["peak_allocated_bytes"], step["peak_reserved_bytes"], step["end_allocated_bytes"]) for step in report["steps"]]
