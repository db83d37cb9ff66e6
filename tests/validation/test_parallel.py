"""The recorded tables (validation/parallel) are what `predict` says, to the byte: ZeRO-2 of LLaVA, Llama under every strategy.
What was recorded of LLMem's programs says what LLMem says."""

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
import strategies_table  # noqa: E402
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


def peaks_of_steps(report):
    """A run ends a step where the next one begins or where the optimizer's step returns, which is in front of zero_grad in five rows: ends are not compared."""
    return [(allocated, reserved) for allocated, reserved, _ in steps_of(report)]


def steps_of(report):
    return [(step["peak_allocated_bytes"], step["peak_reserved_bytes"], step["end_allocated_bytes"]) for step in report["steps"]]


LLAMA = [row for row in map(json.loads, (FOLDER / "llama_strategies.jsonl").read_text().splitlines()) if compare_strategies.is_predictable(row["cell"])]
OF_THE_CLOCK = [row for row in LLAMA if row["cell"]["strategy"] in strategies_table.WAIT_FOR_STREAMS and "event_order" not in row["cell"]]


def test_the_strategies_have_all_their_cells():
    assert len({str(row["cell"]) for row in LLAMA}) == 78 and len(OF_THE_CLOCK) == 14 and not [row for row in LLAMA if "error" in row]


@pytest.mark.parametrize("strategy", compare_strategies.KNOWN)
def test_every_strategy_is_equal_to_the_byte(strategy):
    different = {}
    for row in LLAMA:
        if row["cell"]["strategy"] != strategy or row in OF_THE_CLOCK:
            continue
        ours = compare_strategies.predicted(row["cell"])
        if [peaks(row), *peaks_of_steps(row)] != [peaks(ours), *peaks_of_steps(ours)]:
            different[str(row["cell"])] = (steps_of(row), steps_of(ours))
    assert different == {}


@pytest.mark.parametrize("row", OF_THE_CLOCK, ids=lambda row: "{strategy}-{ranks}-{checkpointing}".format(**row["cell"]))
def test_a_prediction_is_within_what_the_order_of_events_leaves_open(row):
    """By the clock blocks wait for other streams; predictions have them back at once, which is one end of the run's interval."""
    ours = peaks(compare_strategies.predicted(row["cell"]))
    for name, bytes_ in ours.items():
        low, high = (row["interval"] or {}).get(name, (row[name], row[name]))
        assert low <= bytes_ <= high


def test_llmem_page_says_what_the_rows_say():
    page = subprocess.run([sys.executable, FOLDER / "llmem_score.py", FOLDER / "llmem.jsonl"], capture_output=True, text=True, check=True).stdout
    assert page == (FOLDER / "llmem.md").read_text()


def test_no_run_contradicts_llmem():
    plain, _ = llmem_score.rows_of(FOLDER / "llmem.jsonl")
    verdicts = {(model, method): llmem_score.verdict(seconds, plain.get((model, method)))
                for model, there in llmem_score.CHOICES.items() for method, seconds in zip(llmem_score.ON_FOUR, there)}
    assert len(verdicts) == 27
    assert {place: found for place, found in verdicts.items() if found != "agrees"} == {place: "open" for place in llmem_table.TIGHT}
