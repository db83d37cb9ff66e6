"""The tables of what was tried with which releases (validation/releases): the page is what the outcomes say, and a test that ran again counts once."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "validation" / "releases"
ABOUT = {"torch": "2.11.0", "transformers": "5.17.0", "python": "3.11.2"}


def page():
    spec = importlib.util.spec_from_file_location("releases_page", FOLDER / "page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(test, outcome):
    return {"test": test, "outcome": outcome, "why": "", "peaks": []}


def test_the_page_is_what_the_outcomes_say():
    done = subprocess.run([sys.executable, FOLDER / "page.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sorted((FOLDER / "outcomes").glob("*.jsonl")), ids=lambda path: path.stem)
def test_each_test_is_told_once(path):
    tests = [json.loads(line)["test"] for line in path.read_text().splitlines()[1:]]
    assert sorted(tests) == sorted(set(tests))


def test_of_a_test_that_ran_again_the_last_outcome_stays(tmp_path):
    file = tmp_path / "outcomes.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in (ABOUT, row("a", "failed"), row("b", "passed"), row("a", "passed"))))
    subprocess.run([sys.executable, FOLDER / "page.py", "--settle", file], check=True)
    about, *rows = map(json.loads, file.read_text().splitlines())
    assert about == ABOUT and {one["test"]: one["outcome"] for one in rows} == {"a": "passed", "b": "passed"} and len(rows) == 2


def test_a_cell_counts_what_was_tried():
    module = page()
    assert module.cell([row("a", "passed"), row("b", "failed"), row("c", "skipped")]) == "1 of 2"
    assert module.cell([row("c", "skipped")]) == "not run"
    base = {name: row(name, "passed") for name in ("g::a[newest]", "g::a[torch-2.6]", "g::b", "other::c")}
    assert module.missing(base, {"g::a[newest]": row("g::a[newest]", "passed")}, ("g",)) == 1
    assert module.cell([row("a", "passed")], missing=2) == "1 of 1, 2 not run"


def test_no_name_of_a_test_is_a_path():
    names = [json.loads(line)["test"] for path in (FOLDER / "outcomes").glob("*.jsonl") for line in path.read_text().splitlines()[1:]]
    assert names and not [name for name in names if "[/" in name]
