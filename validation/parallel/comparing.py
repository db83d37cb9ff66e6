"""Recorded rows beside what `tidemark predict` says: what the scripts compare_*.py share."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
RECORDED_WITH = {"torch": "2.11.0", "transformers": "5.17.0"}  # the rows' own `versions`
BARS = {"allocated_bytes": 0.001, "reserved_bytes": 0.02}


def answered(cell, asked):
    """The report of `tidemark predict`."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        spec, report = Path(folder, "spec.json"), Path(folder, "report.json")
        spec.write_text(json.dumps({**RECORDED_WITH, **asked}))
        command = [TIDEMARK, "predict", "--spec", spec, "--gpu", "h100-80gb", "--memory", "1000GiB", "--quiet", "--json", report]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{cell}: {done.stderr.strip()}")
        return json.loads(report.read_text())


def peaks(report):
    """Allocated and reserved, of the run."""
    found = report["peak"] if "peak" in report else report
    return {name: found[name] for name in BARS}


def ends(report):
    """What addresses and the order of events leave open: lowest and highest."""
    own = {name: [bytes_, bytes_] for name, bytes_ in peaks(report).items()}
    return {name: (report["interval"] or own)[name] for name in BARS}


def compare(rows, predicted):
    """Prints each row beside `predicted(cell)`; 1 if a bar is missed, a row was not recorded, or there is none."""
    missed, worst = 0, dict.fromkeys(BARS, 0.0)
    for row in rows:
        if "error" in row:
            print(row["cell"], "was not recorded:", row["error"][-80:])
            missed += 1
            continue
        got, want = peaks(predicted(row["cell"])), peaks(row)
        off = {name: abs(got[name] - want[name]) / want[name] for name in BARS}
        worst = {name: max(worst[name], off[name]) for name in BARS}
        passes = all(off[name] <= bar for name, bar in BARS.items())
        missed += not passes
        shown = "  ".join(f"{name.split('_')[0]} {want[name]:,} {got[name] - want[name]:+,}" for name in BARS)
        print(" ".join(f"{key}={value}" for key, value in row["cell"].items()), "", shown, "" if passes else "MISSED", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} cells hold; worst:", ", ".join(f"{name.split('_')[0]} {100 * worst[name]:.4f} %" for name in BARS))
    return 1 if missed or not rows else 0
