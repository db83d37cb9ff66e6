"""A campaign becomes a corpus: here one that was made on the virtual GPU, which both engines then equal to the byte."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURE = ROOT / "validation" / "measure"
TIDEMARK = os.environ.get("TIDEMARK_BIN") or str(ROOT / "build" / "release" / "apps" / "cli" / "tidemark")
CASES = ("tiny-llama/bf16", "tiny-gpt2/bf16")
RESULT = {"id": CASES[0], "peak_allocated": 60_000_000, "peak_reserved": 70_000_000, "device": {"card": "h200", "total": 1, "used": 700_000_000}, "torch": "2.11.0", "transformers": "5.17.0"}


def convert(folder, results):
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results))
    return subprocess.run([sys.executable, str(MEASURE / "rows.py"), str(folder / "results.jsonl"), str(folder / "corpus"), "--gpu", "h200", "--driver", "570.86"], capture_output=True, text=True)


def validate(folder, *options):
    done = subprocess.run([TIDEMARK, "validate", str(folder), *options, "--json", "-"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_case_has_three_rows_or_a_reason(tmp_path):
    assert convert(tmp_path, [{"id": "context"}, RESULT, {"id": "tiny-gpt2/bf16", "error": "OutOfMemoryError: no"}]).returncode == 0
    result = validate(tmp_path / "corpus", "--engine", "predict")
    (engine,) = result["engines"]
    assert [(row["id"], row["metric"], row["measured_bytes"]) for row in engine["rows"]] == [
        (f"{CASES[0]} allocated", "allocated", 60_000_000),
        (f"{CASES[0]} reserved", "reserved", 70_000_000),
        (f"{CASES[0]} device", "device", 700_000_000),
    ]
    assert [one["reason"] for one in result["left_out"]] == ["the run failed: OutOfMemoryError: no"]


def test_a_case_that_does_not_exist_is_refused(tmp_path):
    assert "not in cases.jsonl: nobody" in convert(tmp_path, [{"id": "nobody"}]).stderr


@pytest.mark.slow("a whole campaign of measurements, on the virtual GPU")
def test_a_campaign_on_the_virtual_gpu_is_equal_to_the_byte(tmp_path):
    python = os.environ["TIDEMARK_PYTHON"]
    command = [TIDEMARK, "run", "--gpu", "h200", "--quiet", "--steps", "1000", "--", python, str(MEASURE / "measure.py"), str(MEASURE / "cases.jsonl"), str(tmp_path), "--only", *CASES]
    subprocess.run(command, capture_output=True, text=True, timeout=600)
    written = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {row["id"] for row in written} == set(CASES)
    assert convert(tmp_path, written).returncode == 0
    result = validate(tmp_path / "corpus", "--engine", "both", "--python", f"campaign={python}")
    assert result["left_out"] == []
    for engine in result["engines"]:
        errors = {row["id"]: row["error"] for row in engine["rows"] if row["metric"] != "device"}
        assert len(errors) == 4 and set(errors.values()) == {0}, (engine["engine"], errors)
