"""Programs that Tidemark comes with, at other sizes than they were captured at: equal to programs captured at exactly those."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.oracle
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_shipped_programs_equal_exact_ones():
    done = subprocess.run([os.environ["TIDEMARK_PYTHON"], ROOT / "tools/capture/compare.py", "arcee", "cohere2", "mbart"], capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert len(rows) == 3, done.stderr[-2000:]
    assert all("| equal, " in row for row in rows), rows
