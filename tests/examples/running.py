"""`tidemark run` as a process, on a small card's worth of everything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation/programs"))
import environments

TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", str(ROOT / ".venv/bin/python"))
OLDEST = os.environ.get("TIDEMARK_PYTHON_26", "")
PYTHONS = [PYTHON] + [OLDEST] * os.path.exists(OLDEST)
PYTHON_NAMES = ["newest", "torch-2.6"][: len(PYTHONS)]  # in the tests' names, which validation/releases keeps: no paths


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
    def peak(self):
        """[allocated, reserved] bytes."""
        return [self.report["peak"]["allocated_bytes"], self.report["peak"]["reserved_bytes"]]

    @property
    def assumptions(self):
        return {row["what"] for row in self.report["assumptions"]}


def environment_with(title, packages, base=PYTHON):
    """A Python that has them, over that of the other programs."""
    try:
        return environments.environment(base, packages)
    except environments.Missing as missing:
        pytest.skip(f"{title} cannot be installed here: {missing}")


def skip_unless_compared(prediction):
    """A prediction for releases that were never compared with real runs says so; whether it is equal is then nothing to be held to."""
    if unknown := [row["what"] for row in prediction["assumptions"] if "has not been compared with predictions" in row["what"]]:
        pytest.skip(unknown[0])


def major_version_of(package):
    """Of what the programs run with."""
    code = f"from importlib.metadata import version; print(version({package!r}).split('.')[0])"
    return int(subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout)
