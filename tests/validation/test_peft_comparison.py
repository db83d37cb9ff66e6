"""PEFT's comparison of methods (validation/peft_comparison): the rows are whole, the length is solved from one of them alone, and each bar is in the state that is known."""

import ast
import collections
import json
import math
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation" / "peft_comparison"
CORPUS = json.loads((FOLDER / "corpus.json").read_text())
CONFIGURATIONS = json.loads((FOLDER / "configurations.json").read_text())
SOLVED_FROM = "beft--target-v_proj"


def lines(name):
    return {row["id"]: row for row in map(json.loads, (FOLDER / name).read_text().splitlines())}


ROWS, STORED = lines("rows.jsonl"), lines("predictions.jsonl")
ASKED = {name: row for name, row in ROWS.items() if row.get("run")}


def script(*names):
    """Functions and constants of peft_text.py, without torch, which needs the virtual GPU."""
    tree = ast.parse((FOLDER / "peft_text.py").read_text())
    wanted = [node for node in tree.body if getattr(node, "name", None) in names or isinstance(node, ast.Assign)]
    space = {"collections": collections, "math": math, "pathlib": pathlib, "statistics": statistics, "__file__": str(FOLDER / "peft_text.py")}
    exec(compile(ast.Module(wanted, []), "peft_text.py", "exec"), space)
    return space


def test_every_experiment_has_a_row_and_its_settings():
    assert list(ROWS) == list(CONFIGURATIONS) and len(ROWS) == 36
    for name, row in ROWS.items():
        assert bool(row.get("run")) != bool(row.get("left_out")), name
        assert row["measured_bytes"] % 2**21 == 0 and row["setting"]["figure"].startswith(f"accelerator_memory_max, {row['measured_bytes'] - 2**21} bytes"), name


def test_the_row_that_the_length_is_solved_from_tests_nothing():
    assert "solved" in ROWS[SOLVED_FROM]["left_out"] and SOLVED_FROM not in STORED


def test_every_row_is_run_alike():
    """One script, one length: nothing but the experiment's name is told."""
    for name, row in ASKED.items():
        assert row["run"] == {"script": "peft_text.py", "arguments": [name], "environment": "peft-text", "options": ["--keep-going", "--fake-weights"]}
    assert set(STORED) == set(ASKED)


def test_lengths_have_the_stated_mean_and_one_longest():
    space = script("bucket_of", "windows_of")
    bucket, windows = space["bucket_of"](space["LONGEST"]), space["windows_of"](space["LONGEST"])
    assert len(bucket) == space["BATCHES"] and bucket == sorted(bucket, reverse=True)
    assert space["MEAN"] < statistics.mean(bucket) < 1.05 * space["MEAN"]  # padding to the longest of four
    lengths = [length for window in windows for length in window]
    assert max(lengths) == windows[-1][0] == space["LONGEST"] <= space["LIMIT"] and lengths.count(space["LONGEST"]) == 1
    assert f"**{space['LONGEST']}**" in (FOLDER / "README.md").read_text()


def test_settings_that_a_release_does_not_know_are_named():
    known = script("known_settings")["known_settings"]
    assert known({"peft_type": "LORA", "peft_version": "1", "r": 8, "of_later": 1, "and_more": 2}, {"r", "bias"}) == ({"r": 8}, ["and_more", "of_later"])


def test_bars_are_in_the_state_that_is_known():
    binary = os.environ.get("TIDEMARK_BIN") or str(ROOT / "build" / "release" / "apps" / "cli" / "tidemark")
    done = subprocess.run([binary, "validate", str(FOLDER), "--json", "-"], capture_output=True, text=True)
    bars = json.loads(done.stdout)["bars"]
    assert {bar["statistic"]: bar["met"] for bar in bars} == {"n": True, "median": True}
    assert re.search(r"Median absolute error ([\d.]+) %", (FOLDER / "README.md").read_text()).group(1) == f"{100 * bars[1]['value']:.2f}"
