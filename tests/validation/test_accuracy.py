"""docs/accuracy.md is what validation/accuracy.py writes, and a figure that is not so is found."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def written(*options, **environment):
    return subprocess.run([sys.executable, str(ROOT / "validation/accuracy.py"), *options], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})


def test_the_page_is_current():
    done = written("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_figure_that_differs_is_shown(tmp_path):
    """A stand-in for `tidemark` that answers with another median."""
    stand_in = tmp_path / "tidemark"
    real = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
    stand_in.write_text(f"""#!{sys.executable}
import json, subprocess, sys
result = json.loads(subprocess.run([{real!r}, *sys.argv[1:]], capture_output=True, text=True).stdout)
result["bars"][0]["value"] = 7
print(json.dumps(result))
""")
    stand_in.chmod(0o755)
    done = written("--check", TIDEMARK_BIN=str(stand_in))
    assert done.returncode == 1
    assert "+++ as it would be" in done.stdout and "| 7 |" in done.stdout
