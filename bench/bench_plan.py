"""How long `tidemark plan` decides, and how much memory that takes, from start to answer.

    python bench/bench_plan.py MODELS [--runs 3]

MODELS holds the configurations llama-3.1-8b.json, llava-1.5-7b-hf.json and llama-3-70b.json.  The fastest of the runs is held to the limits that the
project states, which stand beside the figures; a row that misses one makes the exit code 1.  The limit of the first three is for 50,000 configurations, and what is
held to it is a run's time for as many of them as it decides among.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIDEMARK = os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark")
QUESTIONS = (  # what is asked, seconds for so many configurations (none: whatever their number), MiB
    ("llama-3.1-8b.json --batch 16 --seq 4096 --gpu h100-80gbx8", 10, 50_000, 200),
    ("llama-3.1-8b.json --batch 64 --seq 4096 --gpu h100-80gbx8", 10, 50_000, 200),
    ("llava-1.5-7b-hf.json --batch 16 --seq 1024 --images 1 --gpu h100-80gbx8", 10, 50_000, 200),
    ("llama-3-70b.json --batch 1 --seq 4096 --gpu h100-80gbx8 --nodes 128", 30, None, None),
)


def planned(models, question):
    """Wall seconds, the processor's, MiB, and the plan."""
    model, *words = question.split()
    with tempfile.TemporaryDirectory() as folder:
        answer = pathlib.Path(folder, "plan.json")
        start = time.perf_counter()
        child = subprocess.Popen([TIDEMARK, "plan", models / model, *words, "--json", answer], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"plan {question}: exit code {os.waitstatus_to_exitcode(status)}")
        return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(answer.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    missed = False
    for question, limit_seconds, of, limit_mib in QUESTIONS:
        seconds, processor_seconds, mib, plan = min((planned(asked.models, question) for _ in range(asked.runs)), key=lambda run: run[:3])
        candidates = plan["candidates"]
        held = seconds * of / candidates if of else seconds
        missed |= held > limit_seconds or (limit_mib is not None and mib > limit_mib)
        print(
            f"{question}: {candidates:,} configurations by {plan['simulated']:,} simulations in {seconds:.2f} s, {processor_seconds:.2f} s of processors"
            + (f", {held:.2f} s for {of:,}" if of else "")
            + f" (limit {limit_seconds} s), {mib:.0f} MiB"
            + (f" (limit {limit_mib} MiB)" if limit_mib else "")
        )
    sys.exit(missed)


if __name__ == "__main__":
    main()
