"""Cells of a table, each one `tidemark run`; rows go to a JSON-lines file as they are found."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", str(ROOT / ".venv/bin/python"))


def launched(ranks, script, options):
    return [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", ranks, script, *options]


def run_cell(command, ranks, rank=0, gpu="h100-80gb", memory="1000GiB", outcome=False, event_order=None):
    """What is kept of one run's report; with `outcome` whether it fits, which not to do is no error."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        report = Path(folder, "report.json")
        words = [TIDEMARK, "run", "--quiet", "--gpu", gpu, "--memory", memory, "--gpus", ranks, "--rank", rank, "--steps", 3, "--json", report, *(["--event-order", event_order] if event_order else []), "--", *command]
        begun = time.time()
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        if outcome and report.exists() and done.returncode in (0, 1):
            return outcome_of(json.loads(report.read_text()), done.stderr, round(time.time() - begun, 1))
        if done.returncode != 0:
            return {"error": done.stderr.strip()[-600:], "exit_code": done.returncode}
        found = json.loads(report.read_text())
    kept = {name: found["peak"][name] for name in ("allocated_bytes", "reserved_bytes", "step", "phase")}
    return {
        **kept,
        "steps": found["steps"],
        "by_category": {row["name"]: row["bytes"] for row in found["at_peak"]["by_category"]},
        "interval": found["interval"],
        "host": found["host"],
        "versions": found["versions"],
        "seconds": round(time.time() - begun, 1),
    }


def outcome_of(found, messages, seconds):
    """A program that ended by itself for another reason than memory is an error; of what may fit, or may not, `fits` is null."""
    if found.get("fits") is None and not found["verdict"].startswith("may not fit"):
        return {"error": messages.strip()[-600:] or found["verdict"]}
    kept = {name: found["peak"][name] for name in ("allocated_bytes", "reserved_bytes", "device_bytes", "step", "phase")}
    oom = found.get("oom")
    return {
        "fits": found["fits"],
        **kept,
        **({"oom": {name: oom[name] for name in ("requested_bytes", "step", "phase")}} if oom else {}),
        "versions": {name: found["versions"][name] for name in ("torch", "transformers")},
        "seconds": seconds,
    }


def rows_in(path, run):
    """row_of(cell): the row that the file has of a cell, else one that is run now, and kept."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {json.dumps(row["cell"]): row for row in rows if "error" not in row}

    def row_of(cell):
        if (key := json.dumps(cell)) not in known:
            row = known[key] = {"cell": cell, **run(cell)}
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            shown = row.get("error") or f"allocated {row['allocated_bytes']:,} reserved {row['reserved_bytes']:,} ({row['step']}, {row['phase']}) {row['seconds']} s"
            print(" ".join(f"{key}={value}" for key, value in cell.items()), shown, file=sys.stderr, flush=True)
        return known[key]

    return row_of


def cells_to(cells, run):
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    row_of = rows_in(parser.parse_args().rows, run)
    for cell in cells:
        row_of(cell)
