"""Puts every recorded cell of zero2_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_zero2.py validation/parallel/zero2_llava.jsonl

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
BARS = {"allocated_bytes": 0.001, "reserved_bytes": 0.02}
TRAINED = {"pretrain": {"train_only": ["multi_modal_projector"]}, "finetune": {"freeze": ["vision_tower"]}, "full": {}}


def spec_of(cell, model):
    """What `tidemark predict` is asked for a cell: the program of examples/deepspeed_llava.py."""
    checkpointing = "non_reentrant" if cell["checkpointing"] else "none"
    return {"model": model, "batch": cell["batch"], "seq": cell["sequence"], "images": 1, "checkpointing": checkpointing, "gpus": cell["ranks"], "parallel": "zero2", **TRAINED[cell["stage"]]}


def predicted(cell, model):
    return answered(cell, spec_of(cell, model))


def answered(cell, asked):
    """The report of `tidemark predict`."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        spec, report = Path(folder, "spec.json"), Path(folder, "report.json")
        spec.write_text(json.dumps(asked))
        command = [TIDEMARK, "predict", "--spec", spec, "--gpu", "h100-80gb", "--memory", "1000GiB", "--quiet", "--json", report]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{cell}: {done.stderr.strip()}")
        return json.loads(report.read_text())


def peaks(report):
    """Allocated and reserved, of the run."""
    found = report["peak"] if "peak" in report else report
    return {name: found[name] for name in BARS}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().rows.read_text().splitlines()]
    model = json.loads((ROOT / "bench/llava.json").read_text())["model"]
    missed, worst = 0, dict.fromkeys(BARS, 0.0)
    for row in rows:
        if "error" in row:
            print(row["cell"], "was not recorded:", row["error"][-80:])
            missed += 1
            continue
        got, want = peaks(predicted(row["cell"], model)), peaks(row)
        off = {name: abs(got[name] - want[name]) / want[name] for name in BARS}
        worst = {name: max(worst[name], off[name]) for name in BARS}
        passes = all(off[name] <= bar for name, bar in BARS.items())
        missed += not passes
        shown = "  ".join(f"{name.split('_')[0]} {want[name]:,} {got[name] - want[name]:+,}" for name in BARS)
        print(" ".join(f"{key}={value}" for key, value in row["cell"].items()), "", shown, "" if passes else "MISSED", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} cells hold; worst:", ", ".join(f"{name.split('_')[0]} {100 * worst[name]:.4f} %" for name in BARS))
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
