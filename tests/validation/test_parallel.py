"""The recorded tables (validation/parallel) are what `predict` says: ZeRO-2 of LLaVA to the byte, Llama under every strategy but for what its loop does otherwise;
and what was recorded of LLMem's programs says what LLMem says."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "parallel"
sys.path.insert(0, str(FOLDER))

import compare_strategies  # noqa: E402
import compare_zero2  # noqa: E402
import llmem_score  # noqa: E402
import llmem_table  # noqa: E402
from comparing import peaks  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "zero2_llava.jsonl").read_text().splitlines()]


def test_the_table_has_all_its_cells():
    cells = [(cell["ranks"], cell["sequence"], cell["batch"], cell["stage"], cell["checkpointing"]) for cell in (row["cell"] for row in ROWS)]
    assert len(set(cells)) == 48 and not [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_every_peak_is_equal_to_the_byte(ranks):
    different = {}
    for row in ROWS:
        if row["cell"]["ranks"] != ranks:
            continue
        ours = compare_zero2.predicted(row["cell"])
        if [peaks(row), *steps_of(row)] != [peaks(ours), *steps_of(ours)]:
            different[str(row["cell"])] = (steps_of(row), steps_of(ours))
    assert different == {}


def steps_of(report):
    return [(step["peak_allocated_bytes"], step["peak_reserved_bytes"], step["end_allocated_bytes"]) for step in report["steps"]]


LLAMA = [row for row in map(json.loads, (FOLDER / "llama_strategies.jsonl").read_text().splitlines()) if compare_strategies.is_predictable(row["cell"])]
# By their sizes: predictions have labels and a mask of their own, two tensors of 32,768 bytes; the recorded program keeps its batch, one of them, and where it is not
# DeepSpeed's its loss (512 bytes) until the step is over.
ALLOCATED_OFF_BYTES = {0, 65_536, -32_768, -33_280}
RESERVED_OFF_BYTES = {"fsdp2_keep ranks=4 checkpointing=False": 2_097_152}   # run with labels and a mask of their own, this cell is equal to the byte


def test_the_strategies_have_all_their_cells():
    assert len({str(row["cell"]) for row in LLAMA}) == 64 and not [row for row in LLAMA if "error" in row]


@pytest.mark.parametrize("strategy", compare_strategies.KNOWN)
def test_every_strategy_is_predicted(strategy):
    different = {}
    for row in LLAMA:
        cell = row["cell"]
        if cell["strategy"] != strategy:
            continue
        ours, theirs = peaks(compare_strategies.predicted(cell)), peaks(row)
        name = f"{strategy} ranks={cell['ranks']} checkpointing={cell['checkpointing']}"
        if ours["reserved_bytes"] - theirs["reserved_bytes"] != RESERVED_OFF_BYTES.get(name, 0) or ours["allocated_bytes"] - theirs["allocated_bytes"] not in ALLOCATED_OFF_BYTES:
            different[name] = (ours, theirs)
    assert different == {}


def test_llmem_page_says_what_the_rows_say():
    page = subprocess.run([sys.executable, FOLDER / "llmem_score.py", FOLDER / "llmem.jsonl"], capture_output=True, text=True, check=True).stdout
    assert page == (FOLDER / "llmem.md").read_text()


def test_no_run_contradicts_llmem():
    plain, _ = llmem_score.rows_of(FOLDER / "llmem.jsonl")
    verdicts = {(model, method): llmem_score.verdict(seconds, plain.get((model, method)))
                for model, there in llmem_score.CHOICES.items() for method, seconds in zip(llmem_score.ON_FOUR, there)}
    assert len(verdicts) == 27
    assert {place: found for place, found in verdicts.items() if found != "agrees"} == {place: "open" for place in llmem_table.TIGHT}
