"""alternatives.jsonl: what the settings of rows.jsonl would take with other sequence lengths, and with another release of transformers.

    python alternatives.py [--only TEXT] [--workers 2]

It needs what `corpus.json` says of the environments, by the same variables (TIDEMARK_PYTHON_26, TIDEMARK_TRANSFORMERS_451).  `tidemark validate` compares the
predictions themselves; these tell how far a setting that the source does not state could have moved them (README, "Why the two differ").
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import readme

HERE = pathlib.Path(__file__).resolve().parent

# A batch is padded to its longest line.  From SURELY_LONG lines on, one that fills all 128 tokens is all but surely among them; below, the four batches
# may be these long (README, "Sequence lengths").  The first entry is the prediction, all of them together its interval.
SURELY_LONG = 20
PLAUSIBLE_LENGTHS = ((128, 128, 128, 128), (64, 128, 128, 128), (128, 64, 96, 128), (96, 112, 128, 112), (96, 96, 96, 96))


def reserved(row, lengths, environment):
    """Lowest and highest reserved peak over the orders of addresses, and the peak itself."""
    chosen = dict(os.environ)
    if environment == "torch-2.6-transformers-4.51":
        chosen["PYTHONPATH"] = os.environ["TIDEMARK_TRANSFORMERS_451"]
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [
            readme.tidemark(),
            "run",
            "--gpu",
            row["gpu"],
            "--quiet",
            *row["run"]["options"],
            "--json",
            report,
            "--",
            os.environ["TIDEMARK_PYTHON_26"],
            str(HERE / row["run"]["script"]),
            *row["run"]["arguments"],
            "--lengths",
            ",".join(map(str, lengths)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=chosen)
        if done.returncode not in (0, 1) or not os.path.exists(report):
            raise RuntimeError(f"{row['id']}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        answer = json.loads(pathlib.Path(report).read_text())
    peak = answer["peak"]["reserved_bytes"]
    return *((answer.get("interval") or {}).get("reserved_bytes", [peak, peak])), peak


def alternatives(row):
    result, environment = {"id": row["id"]}, row["run"]["environment"]
    if row["modality"] == "text" and int(row["run"]["arguments"][2]) < SURELY_LONG and row["family"] != "qwen3":
        reached = [bound for lengths in PLAUSIBLE_LENGTHS for bound in reserved(row, lengths, environment)]
        result["by_length_bytes"] = [min(reached), max(reached)]
    if environment == "torch-2.6-transformers-4.51":
        result["with_transformers_4.52.4_bytes"] = reserved(row, PLAUSIBLE_LENGTHS[0], "torch-2.6")[2]
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="settings whose id holds this text")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    rows, known = readme.lines("rows.jsonl"), readme.lines("alternatives.jsonl")
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        made = pool.map(alternatives, [row for row in rows.values() if arguments.only in row["id"]])
        known.update({one["id"]: one for one in made})
    text = "".join(json.dumps(known[key], separators=(",", ":")) + "\n" for key in rows if len(known.get(key, {})) > 1)
    (HERE / "alternatives.jsonl").write_text(text)


if __name__ == "__main__":
    main()
