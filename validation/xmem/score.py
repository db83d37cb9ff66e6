"""Runs xMem's experiments on virtual cards and compares the peaks with those that NVML saw on the real ones.

    python score.py run [--only TEXT] [--workers 2]    results.jsonl, then README.md
    python score.py table                              README.md from results.jsonl, nothing is run

`run` needs
    TIDEMARK_PYTHON_26            a Python with torch 2.6.0, torchvision 0.21 and transformers 4.52.4; NVIDIA's packages are not needed
    TIDEMARK_TRANSFORMERS_451     a folder with transformers 4.51.3 (pip install --no-deps --target FOLDER), for the older round of runs
    TIDEMARK_CUDNN_26             the folder of libcudnn 9.8 for CUDA 12, for the CNNs, unless `tidemark run` finds one by itself
and takes `tidemark` from TIDEMARK_BIN, from the release build or from the path.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import table

HERE = pathlib.Path(__file__).resolve().parent
CARDS = {"NVIDIA GeForce RTX 3060": "rtx-3060", "NVIDIA GeForce RTX 4060": "rtx-4060", "NVIDIA A100-SXM4-40GB": "a100-40gb"}

# A batch is padded to its longest line.  From SURELY_LONG lines on, one that fills all 128 tokens is all but surely among them; below, the four batches
# may be these long (README, "Sequence lengths").  The first entry is the prediction, all of them together its interval.
SURELY_LONG = 20
PLAUSIBLE_LENGTHS = ((128, 128, 128, 128), (64, 128, 128, 128), (128, 64, 96, 128), (96, 112, 128, 112), (96, 96, 96, 96))


def experiments():
    """The published runs, repeats of one setting put together: [{setting…, runs, ground_bytes, …}]."""
    groups = collections.OrderedDict()
    for line in (HERE / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        groups.setdefault(tuple(row[key] for key in ("model", "optimizer", "batch", "gpu", "zero_grad_mode")), []).append(row)
    return [merged(rows) for rows in groups.values()]


def merged(rows):
    grounds = [row["ground_bytes"] for row in rows]
    first = {key: rows[0][key] for key in ("model", "optimizer", "batch", "gpu", "zero_grad_mode", "gpu_total_bytes", "real_oom")}
    typical = collections.Counter(grounds).most_common(1)[0][0]
    xmem = next(row["xmem_bytes"] for row in rows if row["ground_bytes"] == typical)
    return {**first, "runs": len(rows), "ground_bytes": typical, "ground_low_bytes": min(grounds), "ground_high_bytes": max(grounds), "xmem_bytes": xmem}


def key_of(row):
    return f"{row['model'].rsplit('/')[-1]} {row['optimizer']} {row['batch']} {CARDS[row['gpu']]} {'-' if row['zero_grad_mode'] is None else row['zero_grad_mode']}"


def tidemark_command():
    built = HERE.parents[1] / "build" / "release" / "apps" / "cli" / "tidemark"
    return os.environ.get("TIDEMARK_BIN") or (str(built) if built.exists() else "tidemark")


def release_of(row):
    """The transformers release of a run; None for CNNs.  README, "Two rounds"."""
    return None if table.is_cnn(row) else "4.51.3" if row["zero_grad_mode"] is None else "4.52.4"


def environment(release):
    chosen = dict(os.environ)
    if "TIDEMARK_CUDNN_26" in os.environ:
        chosen["TIDEMARK_CUDNN_DIR"] = os.environ["TIDEMARK_CUDNN_26"]
    if release == "4.51.3":
        chosen["PYTHONPATH"] = os.environ["TIDEMARK_TRANSFORMERS_451"]
    return chosen


def run_once(row, lengths, release):
    """One report of `tidemark run`."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [tidemark_command(), "run", "--gpu", CARDS[row["gpu"]], "--keep-going", "--quiet", "--json", report, "--",
                   os.environ["TIDEMARK_PYTHON_26"], str(HERE / "train.py"), row["model"], row["optimizer"], str(row["batch"]),
                   "--zero-grad", str(row["zero_grad_mode"] or 0), "--lengths", ",".join(map(str, lengths))]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(release))
        if not os.path.exists(report):
            raise RuntimeError(f"{key_of(row)}: no report\n{done.stderr[-2000:]}")
        with open(report) as file:
            answer = json.load(file)
        if done.returncode not in (0, 1) or (done.returncode == 1) == bool(answer["fits"]):
            raise RuntimeError(f"{key_of(row)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return answer


def figures(report):
    interval = report.get("interval") or {}
    return {"allocated_bytes": report["peak"]["allocated_bytes"], "reserved_bytes": report["peak"]["reserved_bytes"],
            "reserved_by_address_bytes": interval.get("reserved_bytes", [report["peak"]["reserved_bytes"]] * 2), "oom": bool(report.get("oom"))}


def predict(row):
    """The setting's result: the prediction, its interval over plausible lengths, and what the other release would have given."""
    release = release_of(row)
    random_lengths = release and row["batch"] < SURELY_LONG and not row["model"].startswith("Qwen")
    reports = [run_once(row, lengths, release) for lengths in (PLAUSIBLE_LENGTHS if random_lengths else PLAUSIBLE_LENGTHS[:1])]
    predicted = figures(reports[0])
    if random_lengths:
        reached = [bound for report in reports for bound in figures(report)["reserved_by_address_bytes"]]
        predicted["reserved_by_length_bytes"] = [min(reached), max(reached)]
    if release == "4.51.3":
        predicted["reserved_with_4.52.4_bytes"] = figures(run_once(row, PLAUSIBLE_LENGTHS[0], "4.52.4"))["reserved_bytes"]
    versions = {name: reports[0]["versions"][name] for name in ("torch", "transformers", "torchvision") if name in reports[0]["versions"]}
    if table.is_cnn(row):
        versions["cudnn"] = cudnn_version()
    return {**row, "predicted": predicted, "versions": versions}


def cudnn_version():
    """Of the library that TIDEMARK_CUDNN_26 names, as cudnnGetVersion counts; None without one."""
    folder = os.environ.get("TIDEMARK_CUDNN_26")
    library = folder and os.path.join(folder, "libcudnn_graph.so.9")
    return ctypes.CDLL(library).cudnnGetVersion() if library and os.path.exists(library) else None


def stored_results():
    """Every setting that has been run: the published facts (rows.jsonl) with what was predicted (results.jsonl)."""
    path = HERE / "results.jsonl"
    known = {row["setting"]: row for row in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
    return [{**row, **known[key_of(row)]} for row in experiments() if key_of(row) in known]


def store(results):
    lines = [json.dumps({"setting": key_of(r), "predicted": r["predicted"], "versions": r["versions"]}) + "\n" for r in results]
    (HERE / "results.jsonl").write_text("".join(lines))


def run(only, missing, workers):
    results = {key_of(r): r for r in stored_results()}
    wanted = [row for row in experiments() if only in key_of(row) and not (missing and key_of(row) in results)]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for number, result in enumerate(pool.map(predict, wanted), 1):
            results[key_of(result)] = result
            print(f"[{number}/{len(wanted)}] {key_of(result)}: {table.error(result):+.2%}", file=sys.stderr, flush=True)
            store([results[key_of(row)] for row in experiments() if key_of(row) in results])


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--only", default="", help="settings whose name holds this text")
    runner.add_argument("--missing", action="store_true", help="settings without a result")
    runner.add_argument("--workers", type=int, default=2)
    commands.add_parser("table")
    arguments = parser.parse_args()
    if arguments.command == "run":
        run(arguments.only, arguments.missing, arguments.workers)
    (HERE / "README.md").write_text(table.readme(stored_results()))


if __name__ == "__main__":
    main()
