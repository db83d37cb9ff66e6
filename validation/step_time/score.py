#!/usr/bin/env python3
"""How far estimated step times are from published ones: writes docs/step-times.md.

usage: score.py [TIDEMARK]

rows.jsonl has trainings of huggingface/peft's method_comparison (MetaMathQA) that `predict` can do: Llama-3.2-3B in bf16 on
an L40S, batches of 4 with padding to the longest, 5,000 steps.  How long its batches are is not said: the length at which the
estimate for full fine-tuning is the measured time is taken from that row alone, and the others are scored at it.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STEPS, BATCH = 5000, 4
DECISIONS = "checkpointing,attention,optimizer_impl,allocator,micro_batch"


def seconds(tidemark, length, options):
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.json"
        command = [tidemark, "plan", HERE / "llama-3.2-3b.json", "--batch", BATCH, "--seq", length, "--gpu", "l40s", "--fix", DECISIONS, *options, "--answers", 1, "--json", plan]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return json.loads(plan.read_text())["answers"][0]["step_seconds"]["estimate"]


def length_of(tidemark, measured, options):
    """The multiple of 8 whose estimate is nearest."""
    low, high = 8, 768
    while high - low > 8:
        middle = (low + high) // 16 * 8
        low, high = (middle, high) if seconds(tidemark, middle, options) < measured else (low, middle)
    return min((low, high), key=lambda length: abs(seconds(tidemark, length, options) - measured))


def kendall_tau(pairs):
    agree = sum(math.copysign(1, (a[0] - b[0]) * (a[1] - b[1])) for i, a in enumerate(pairs) for b in pairs[:i])
    return agree / (len(pairs) * (len(pairs) - 1) / 2)


def page(rows, length):
    errors = sorted(abs(row["estimate"] - row["measured"]) / row["measured"] for row in rows[1:])
    lines = [
        "# Step times",
        "",
        "Written by `python validation/step_time/score.py`: published step times, and what `tidemark plan` estimates. Nothing in the estimate was fitted to a training.",
        "",
        f"peft's method comparison (Llama-3.2-3B, bf16, an L40S, batches of {BATCH}). The length of its batches is not published: at {length} tokens the first row's estimate is what was measured; the others are",
        "scored at that length, so they say whether methods stand in the right relation to each other, and nothing of the rest.",
        "",
        "| training | measured, s | estimated, s | error |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        lines.append(f"| {row['id']} | {row['measured']:.4f} | {row['estimate']:.4f} | {100 * (row['estimate'] / row['measured'] - 1):+.1f} %{' (gives the length)' if row is rows[0] else ''} |")
    lines += ["", f"Of the scored rows: median error {100 * errors[len(errors) // 2]:.1f} %; Kendall's tau over all rows {kendall_tau([(row['measured'], row['estimate']) for row in rows]):.2f}.", ""]
    return "\n".join(lines)


def main():
    tidemark = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/apps/cli/tidemark"
    rows = [json.loads(line) for line in (HERE / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        row["measured"] = row["train_seconds"] / STEPS
    length = length_of(tidemark, rows[0]["measured"], rows[0]["options"])
    for row in rows:
        row["estimate"] = seconds(tidemark, length, row["options"])
    (ROOT / "docs/step-times.md").write_text(page(rows, length))


main()
