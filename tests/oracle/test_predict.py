"""`tidemark predict` against the virtual GPU, live: every training of validation/measure/cases.jsonl whose family it knows, bytes for bytes.

The real program (transformers, peft, torch) runs on the virtual GPU and writes down what was allocated after every phase and at every step's
peak; the prediction has only the config, and follows the torch of that interpreter (TIDEMARK_PYTHON).
Allocated bytes must be equal; reserved bytes too, but where a row of RESERVED_DIFFERS says why not.
"""

import json
import os
import subprocess
import sys
from itertools import groupby

import pytest
from harness import PYTHON, ROOT, TIDEMARK, versions_of

sys.path.insert(0, str(ROOT / "validation" / "measure"))

from specs import cases, spec_of

CARD = "h200"
# id -> why the predicted reserved bytes differ.  At most one row in twenty may stand here.
RESERVED_DIFFERS = {}
TORCH = versions_of("torch")["torch"]
PHASES = ("forward", "backward", "optimizer")
GROUPS = [(name, list(rows)) for name, rows in groupby(cases(), key=lambda case: case["id"].split("/")[0])]


def measured(rows, folder):
    """What measure.py wrote on the virtual GPU: {id: row}."""
    listed = folder / "cases.jsonl"
    listed.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [TIDEMARK, "run", "--gpu", CARD, "--quiet", "--steps", "1000", "--", PYTHON, str(ROOT / "validation/measure/measure.py"), str(listed), str(folder), "--only", rows[0]["id"].split("/")[0]]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=1200)
    written = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert len(written) == len(rows), done.stdout + done.stderr
    return {row["id"]: row for row in written}


def predicted(case, folder):
    spec, report = folder / "spec.json", folder / "report.json"
    spec.write_text(json.dumps({**spec_of(case), "torch": TORCH}))
    done = subprocess.run([TIDEMARK, "predict", "--spec", str(spec), "--gpu", CARD, "--json", str(report)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(report.read_text())


def bytes_of_measured(row):
    return [{**{phase: step[name][0] for phase, name in zip(PHASES, ("after_forward", "after_backward", "after_zero_grad"))}, "peak": step["peak_allocated"]} for step in row["steps"]]


def bytes_of_report(report):
    return [{**{phase["phase"]: phase["end_allocated_bytes"] for phase in step["phases"]}, "peak": step["peak_allocated_bytes"]} for step in report["steps"]]


@pytest.mark.slow("`predict` equal in 81 trainings of 1 to 7 B", keep=["tiny-llava"])
@pytest.mark.parametrize("rows", [rows for _, rows in GROUPS], ids=[name for name, _ in GROUPS])
def test_every_phase_is_equal_to_the_byte(rows, tmp_path):
    predictions = {case["id"]: predicted(case, tmp_path) for case in rows}
    if unknown := [row["what"] for row in predictions[rows[0]["id"]]["assumptions"] if "has not been compared with predictions" in row["what"]]:
        pytest.skip(unknown[0])
    real = measured(rows, tmp_path)
    different = {}
    for case in rows:
        row, report = real[case["id"]], predictions[case["id"]]
        assert "error" not in row, row
        if bytes_of_report(report) != bytes_of_measured(row):
            different[case["id"], "allocated"] = bytes_of_measured(row), bytes_of_report(report)
        reserved = [step["peak_reserved"] for step in row["steps"]]
        if [step["peak_reserved_bytes"] for step in report["steps"]] != reserved and case["id"] not in RESERVED_DIFFERS:
            different[case["id"], "reserved"] = reserved, [step["peak_reserved_bytes"] for step in report["steps"]]
    assert not different


def test_few_rows_may_differ_in_reserved_bytes():
    assert len(RESERVED_DIFFERS) <= len(cases()) / 20
    assert set(RESERVED_DIFFERS) <= {case["id"] for case in cases()}
