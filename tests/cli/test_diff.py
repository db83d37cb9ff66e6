"""diff: reports, snapshots and lists of events, each with each."""

import json
import pathlib
import shutil

import pytest
from test_errors import UNSUPPORTED, USAGE, refused
from test_other_commands import REPORT

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "fuzz" / "corpus"


@pytest.fixture
def work(folders):
    folder = folders / "work"
    (folder / "r.json").write_text(json.dumps(REPORT))
    (folder / "a.txt").write_text("+512 aten::mm m.0\n+1024 aten::add m.1\n-512 aten::mm m.0\n-1024 - -\n+2048 aten::mm m.2\n")
    (folder / "b.txt").write_text("+512 aten::mm m.0\n+1024 aten::add m.1\n-1024 - -\n-512 aten::mm m.0\n+4096 aten::mm m.2\n")
    shutil.copy(CORPUS / "torch_snapshot" / "hand_protocol_4.pickle", folder / "s.pickle")
    return folder


@pytest.mark.parametrize("name", ["r.json", "a.txt", "s.pickle"])
def test_nothing_differs_from_itself(tidemark, work, name):
    done = tidemark("diff", name, name)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("no difference\n")


def test_events_name_the_first_that_differs(tidemark, work):
    done = tidemark("diff", "a.txt", "b.txt")
    assert done.returncode == 1
    assert "after 2 equal allocations: an allocation of 2,048 against one of 4,096" in done.stdout
    assert "    > +2048 aten::mm m.2" in done.stdout and "    > +4096 aten::mm m.2" in done.stdout


def test_names_count_when_asked(tidemark, work):
    (work / "c.txt").write_text((work / "a.txt").read_text().replace("aten::add", "aten::sub"))
    assert tidemark("diff", "a.txt", "c.txt").returncode == 0
    assert tidemark("diff", "a.txt", "c.txt", "--names").returncode == 1


def test_reports_name_the_stretch_of_the_timeline(tidemark, work):
    other = json.loads(json.dumps(REPORT))
    other["timeline"][41]["allocated_bytes"] += 512
    other["steps"] = REPORT.get("steps", []) + [{"step": 1, "peak_allocated_bytes": 1, "peak_reserved_bytes": 1, "end_allocated_bytes": 1}]
    first = {**REPORT, "steps": other["steps"]}
    (work / "r.json").write_text(json.dumps(first))
    (work / "o.json").write_text(json.dumps(other))
    done = tidemark("diff", "r.json", "o.json")
    assert done.returncode == 1
    assert "first difference: between events 40 and 41 (step 4, forward)" in done.stdout
    assert "r.json has no list of events" in done.stdout


def test_a_report_and_a_snapshot(tidemark, work):
    done = tidemark("diff", "r.json", "s.pickle", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["schema"] == "tidemark.diff/1" and result["same"] is False
    assert {"name": "reserved", "a_bytes": 1 << 30, "b_bytes": 2 << 20, "exact": True} in result["totals"]
    assert result["first_difference"] is None and result["notes"]


@pytest.mark.parametrize(
    "content, code, says",
    [
        (b"", USAGE, "it is empty"),
        (b"hello", USAGE, "neither a report"),
        (b"{}", USAGE, '"schema" is missing'),
        (b"+5 a\nx\n", USAGE, "line 2"),
        (b"\x80\x04N", USAGE, "ends too early"),
        (b"\x80\x04cos\nsystem\n.", UNSUPPORTED, "object of a class"),
    ],
)
def test_files_that_are_something_else(tidemark, work, content, code, says):
    (work / "x").write_bytes(content)
    refused(tidemark("diff", "x", "a.txt"), code, "x", says)


def test_arguments(tidemark, work):
    refused(tidemark("diff", "a.txt"), USAGE, "tidemark diff")
    refused(tidemark("diff", "a.txt", "none.txt"), USAGE, "none.txt")
    refused(tidemark("diff", "a.txt", "b.txt", "--name"), USAGE, "did you mean --names?")
