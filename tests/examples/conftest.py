"""`tidemark run` as a process, on a small card's worth of everything."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", str(ROOT / ".venv/bin/python"))


def pytest_configure(config):
    config.addinivalue_line("markers", "oracle: runs PyTorch on the virtual GPU")


class Run:
    """A finished run: `report` (None if there is none), `exit_code`, `output`, `errors`, and allocator `events` on request."""

    def __init__(self, done, folder):
        self.exit_code, self.output, self.errors = done.returncode, done.stdout, done.stderr
        report, events = folder / "report.json", folder / "events.txt"
        self.report = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
        self.events = events.read_text().splitlines() if events.exists() else None

    def category(self, name):
        return {row["name"]: row["bytes"] for row in self.report["at_peak"]["by_category"]}.get(name, 0)

    @property
    def assumptions(self):
        return {row["what"] for row in self.report["assumptions"]}


@pytest.fixture
def run(tmp_path):
    """run(command, options=[…], **environment) -> Run.  Checks that nothing is left behind in the temporary folder."""

    def start(command, options=("--steps", "3"), gpu="a100-80gb", events=False, timeout=120, **changes):
        temporary = tmp_path / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {**os.environ, "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}", "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **changes}
        if events:
            environment["TIDEMARK_EVENTS"] = str(tmp_path / "events.txt")
        words = [TIDEMARK, "run", "--gpu", gpu, "--json", str(tmp_path / "report.json"), *options, "--", *map(str, command)]
        (tmp_path / "report.json").unlink(missing_ok=True)
        done = subprocess.run(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        left = [path for path in temporary.iterdir() if not path.name.startswith("torchelastic_")]   # torchrun's own habit, with or without us
        assert not left, "files were left behind"
        return Run(done, tmp_path)

    return start


@pytest.fixture
def run_code(run, tmp_path):
    """The same for a program that is written in the test."""

    def start(code, *arguments, python=PYTHON, **options):
        program = tmp_path / "program.py"
        program.write_text(code)
        return run([python, program, *arguments], **options)

    return start
