"""tidemark.run and Report: with a stand-in for the launcher, so that every outcome can be had at will."""

import json
import os
import pickle
import stat
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
import tidemark

REPORT = {
    "schema": "tidemark.report/1",
    "engine": "run",
    "fits": True,
    "verdict": "fits: peak 1.00 GiB of 79.3 GiB, 78.3 GiB free",
    "oom": None,
    "peak": {"allocated_bytes": 1 << 30, "reserved_bytes": 3 << 29, "device_bytes": 2 << 30, "step": 2, "phase": "backward"},
    "steps": [{"step": 1, "peak_allocated_bytes": 5}, {"step": 2, "peak_allocated_bytes": 7}],
    "at_peak": {"by_category": [{"name": "parameters", "bytes": 300}, {"name": "activations", "bytes": 700}]},
    "script": {"command": [], "exit_code": 0, "stopped_after_steps": 3},
    "assumptions": [],
}


@pytest.fixture
def launcher(tmp_path, monkeypatch):
    """launcher(exit_code, report=…, errors=…): what `tidemark` will do; it notes its arguments and the program in `seen`."""
    program = tmp_path / "tidemark"

    class Launcher:
        seen = property(lambda self: json.loads((tmp_path / "seen.json").read_text()))

        def __call__(self, exit_code=0, report=REPORT, output="step 0\n", errors=""):
            program.write_text(f"""#!{sys.executable}
import json, os, sys
words = sys.argv[1:]
command = words[words.index("--") + 1 :]
text = open(command[1]).read() if len(command) > 1 and os.path.exists(command[1]) else None
json.dump({{"words": words, "command": command, "text": text, "cwd": os.getcwd(), "pythonpath": os.environ.get("PYTHONPATH", "")}}, open({str(tmp_path / "seen.json")!r}, "w"))
report = {report!r}
if report is not None:
    json.dump(report, open(words[words.index("--json") + 1], "w"))
    open(words[words.index("--html") + 1], "w").write("<html>the page & more</html>")
sys.stdout.write({output!r}); sys.stdout.flush()
sys.stderr.write({errors!r})
sys.exit({exit_code})
""")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            monkeypatch.setenv("TIDEMARK_BIN", str(program))

    return Launcher()


def test_the_package_is_light():
    import subprocess

    code = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import tidemark; print([m for m in ('torch', 'subprocess', 'json') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_report(launcher):
    launcher()
    report = tidemark.run(script="train.py", arguments=["--batch", 4], gpu="h100-80gb", memory="40GB", steps=3, moe_routing="skewed:0.5", generate_length=64, fake_weights=True)
    assert report.fits and report.peak.allocated_bytes == 1 << 30 and report.peak.phase == "backward"
    assert [step.peak_allocated_bytes for step in report.steps] == [5, 7]
    assert report.category("activations") == 700 and report.category("gradients") == 0
    assert str(report) == REPORT["verdict"] and REPORT["verdict"] in repr(report)
    assert report.output == "step 0\n"
    assert report.to_dict() == REPORT
    assert "the page &amp; more" in report._repr_html_()
    words = launcher.seen["words"]
    assert words[0] == "run" and words[-5:] == ["--", sys.executable, "train.py", "--batch", "4"]
    for pair in (["--gpu", "h100-80gb"], ["--memory", "40GB"], ["--steps", "3"], ["--moe-routing", "skewed:0.5"], ["--generate-length", "64"]):
        assert pair == words[words.index(pair[0]) : words.index(pair[0]) + 2]
    assert "--fake-weights" in words and "--keep-going" not in words and "--allocator" not in words


def test_command(launcher):
    launcher()
    tidemark.run(["torchrun", Path("train.py")], keep_going=True)
    assert launcher.seen["command"] == ["torchrun", "train.py"] and "--keep-going" in launcher.seen["words"]
    tidemark.run(script="x.py", python="/some/python")
    assert launcher.seen["command"] == ["/some/python", "x.py"]


def test_source_finds_what_lies_beside_it(launcher, tmp_path):
    launcher()
    tidemark.run(source="import helper\n", cwd=tmp_path)
    assert launcher.seen["text"] == "import helper\n"
    assert launcher.seen["pythonpath"].split(os.pathsep)[0] == str(tmp_path) and launcher.seen["cwd"] == str(tmp_path)
    assert not os.path.exists(launcher.seen["command"][1])


def test_notebook(launcher, tmp_path):
    launcher()
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["%load_ext x\n", "import torch\n", "if True:\n", "    !pip list\n", "    torch.zeros?\n"]},
        {"cell_type": "code", "source": "%%bash\nrm -rf x"},
        {"cell_type": "code", "source": "%%time\nx = 1 % 2 != 3"},
    ]
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    tidemark.run(notebook=notebook)
    text = launcher.seen["text"]
    compile(text, "notebook", "exec")
    assert "import torch\nif True:\n    pass  # !pip list\n    pass  # torch.zeros?" in text
    assert "# rm -rf x" in text and "\nx = 1 % 2 != 3\n" in text and "# Title" not in text


@pytest.mark.parametrize("text", ["", "not json", "[]", "{}", '{"cells": [{"source": 3}]}'])
def test_not_a_notebook(tmp_path, text):
    (tmp_path / "n.ipynb").write_text(text)
    with pytest.raises(ValueError, match="is not a notebook"):
        tidemark.run(notebook=tmp_path / "n.ipynb")


@pytest.mark.parametrize("given", [{}, {"script": "a.py", "source": "b"}, {"command": ["a"], "notebook": "n"}, {"command": "python a.py"}])
def test_one_program(given):
    with pytest.raises(ValueError):
        tidemark.run(**given)


def test_does_not_fit(launcher):
    launcher(exit_code=1, report={**REPORT, "fits": False, "verdict": "does not fit", "oom": {"requested_bytes": 7}, "script": {"exit_code": 1}})
    report = tidemark.run(script="train.py")
    assert not report.fits and report.oom.requested_bytes == 7


@pytest.mark.parametrize(("code", "error"), [(2, ValueError), (3, NotImplementedError), (70, RuntimeError)])
def test_errors_of_the_launcher(launcher, code, error):
    launcher(exit_code=code, report=None, errors='tidemark: --gpu: there is no card "nope"\n  did you mean none?\n')
    with pytest.raises(error) as caught:
        tidemark.run(script="train.py")
    assert str(caught.value) == '--gpu: there is no card "nope"\n  did you mean none?'
    assert not isinstance(caught.value, tidemark.ProgramFailed)


@pytest.mark.parametrize(
    ("ours", "code", "errors"),
    [
        (4, 2, "usage: train.py\ntidemark: the program ended with exit code 2 before it used the card\n"),
        (4, 1, "Traceback\nValueError: x\ntidemark: the program ended with exit code 1 before it used the card\n"),
        (139, 139, "tidemark: the program was ended by signal 11\n"),
    ],
)
def test_errors_of_the_program(launcher, ours, code, errors):
    launcher(exit_code=ours, report=None, errors=errors)
    with pytest.raises(tidemark.ProgramFailed, match=errors.splitlines()[-1]) as caught:
        tidemark.run(script="train.py")
    assert caught.value.exit_code == code and caught.value.report is None and errors in caught.value.output


def test_a_failing_program_keeps_its_report(launcher):
    launcher(exit_code=4, report={**REPORT, "script": {"exit_code": 3}})
    with pytest.raises(tidemark.ProgramFailed) as caught:
        tidemark.run(script="train.py")
    assert caught.value.report.peak.allocated_bytes == 1 << 30


def test_timeout(tmp_path, monkeypatch):
    slow = tmp_path / "tidemark"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("TIDEMARK_BIN", str(slow))
    import subprocess

    with pytest.raises(subprocess.TimeoutExpired):
        tidemark.run(script="train.py", timeout=0.2)


def test_no_launcher(monkeypatch, tmp_path):
    monkeypatch.delenv("TIDEMARK_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="launcher was not found"):
        tidemark.run(script="train.py")
    monkeypatch.setenv("TIDEMARK_BIN", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="TIDEMARK_BIN"):
        tidemark.run(script="train.py")


def test_reports_are_values(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(REPORT))
    report = tidemark.Report.from_json(tmp_path / "r.json")
    assert pickle.loads(pickle.dumps(report)).peak == report.peak
    assert "verdict" in dir(report) and report._repr_html_().startswith("<p>fits")
    with pytest.raises(AttributeError):
        report.nothing
    with pytest.raises(AttributeError):
        tidemark.nothing
