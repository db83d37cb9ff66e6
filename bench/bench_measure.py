"""How long each training of validation/measure takes under `tidemark run`, from start to report.

    python bench/bench_measure.py [--only NAME]

Prints the ten that take longest; one over the limit that the project states makes the exit code 1.
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
PYTHON = os.environ.get("TIDEMARK_PYTHON", ROOT / ".venv/bin/python")
LIMIT_SECONDS = 25


def seconds_of(case, folder):
    listed = folder / "cases.jsonl"
    listed.write_text(json.dumps(case) + "\n")
    command = [TIDEMARK, "run", "--gpu", "h200", "--quiet", "--steps", "1000", "--", PYTHON, ROOT / "validation/measure/measure.py", listed, folder, "--only", case["id"].split("/")[0]]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="trainings whose name begins so")
    asked = parser.parse_args()
    lines = (ROOT / "validation/measure/cases.jsonl").read_text().splitlines()
    cases = [case for case in map(json.loads, lines) if case["id"].startswith(asked.only or "")]
    taken = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            taken[case["id"]] = seconds_of(case, pathlib.Path(folder))
    longest = sorted(taken.items(), key=lambda item: -item[1])
    print(f"{len(taken)} trainings, {sum(taken.values()) / len(taken):.1f} s on average, load {os.getloadavg()[0]:.1f}")
    for name, seconds in longest[:10]:
        print(f"{seconds:6.1f} s  {name}")
    return 1 if longest[0][1] > LIMIT_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
