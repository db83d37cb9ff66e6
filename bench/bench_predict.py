"""One prediction side by side with the tools that give the same answer: `tidemark run`, and PyTorch's MemTracker on fake tensors.

    python bench/bench_predict.py [--runs 5]

Each ratio is between the medians of runs taken in turn in one session.  Limits that the project states are beside the figures; a row that
misses one makes the exit code 1.  Whole processes are timed from start to answer, with their imports, but where a row says otherwise.
Of the predictions of a ZeRO-2 cell the fastest is held to the limit, and the median stands below it: it is what the prediction needs, the rest
is what else the machine did meanwhile (Python, library reference, timeit.Timer.repeat).
"""

import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIDEMARK = os.environ.get("TIDEMARK_BIN", os.path.join(ROOT, "build/release/apps/cli/tidemark"))
BENCH = os.environ.get("TIDEMARK_BENCH", os.path.join(ROOT, "build/release/bench/bench_predict"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", os.path.join(ROOT, ".venv/bin/python"))
DATA = os.path.join(ROOT, "data")


def seconds(command):
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start, done.stdout


Inside = collections.namedtuple("Inside", "median_ms fastest_ms mebibytes")


def inside(spec):
    """One prediction in a process that has started, of 300, and the memory that they add."""
    output = seconds([BENCH, os.path.join(ROOT, "bench", spec), DATA])[1]  # an absolute path stays as it is
    found = re.search(r"median ([\d.]+) ms, fastest ([\d.]+) ms, ([\d.]+) (\w+) more", output)
    scale = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[found[4]]
    return Inside(float(found[1]), float(found[2]), float(found[3]) * scale / 2**20)


def virtual_gpu():
    return [TIDEMARK, "run", "--gpu", "h200", "--steps", "3", "--quiet", "--", PYTHON, "examples/llava_pretrain.py", "--batch", "16", "--sequence", "1024"]


def zero2_cells(runs):
    """name, the fastest, the median: of the 48 cells of validation/parallel those with 8 GPUs and 1024 tokens."""
    model = json.loads(open(os.path.join(ROOT, "bench/llava.json")).read())["model"]
    trained = {"pretrain": {"train_only": ["multi_modal_projector"]}, "finetune": {"freeze": ["vision_tower"]}, "full": {}}
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        for stage, which in trained.items():
            for checkpointing in ("none", "non_reentrant"):
                spec = {"model": model, "batch": 16, "seq": 1024, "images": 1, "gpu": "h100-80gb", "memory": "1000GiB", "gpus": 8, "parallel": "zero2", "checkpointing": checkpointing}
                path = os.path.join(folder, "cell.json")
                with open(path, "w") as file:
                    json.dump({**spec, **which}, file)
                times = [inside(path) for _ in range(runs)]
                fastest, median = min(t.fastest_ms for t in times), statistics.median(t.median_ms for t in times)
                yield f"{stage}, {'with' if checkpointing != 'none' else 'no'} checkpointing", fastest, median


def rows(runs):
    answer, run, tracker, llama = [], [], [], []
    predict = lambda spec: [TIDEMARK, "predict", "--spec", os.path.join(ROOT, "bench", spec)]
    mem_tracker = [TIDEMARK, "run", "--gpu", "h200", "--quiet", "--keep-going", "--", PYTHON, "bench/mem_tracker.py"]
    seconds(virtual_gpu())  # builds what is cached, warms the disk
    llava = [inside("llava.json") for _ in range(runs)]
    for _ in range(runs):
        answer.append(seconds(predict("llava.json"))[0])
        run.append(seconds(virtual_gpu())[0])
    for _ in range(runs):
        llama.append(inside("llama_1b.json").median_ms / 1000)
        answers = [line for line in seconds(mem_tracker)[1].splitlines() if line.startswith("{")]
        tracker.append(json.loads(answers[0])["seconds"])
    inside_ms, start_ms = statistics.median(one.median_ms for one in llava), 1000 * statistics.median(answer)
    mebibytes = max(one.mebibytes for one in llava)
    yield "LLaVA-1.5-7B, 16 x 1024, three steps, in the process", inside_ms, "ms", 3.0, inside_ms <= 3.0
    yield "  memory that it takes", mebibytes, "MiB", 32.0, mebibytes <= 32
    yield "  process start to answer", start_ms, "ms", 15.0, start_ms <= 15
    ratio = statistics.median(run) / (inside_ms / 1000)
    yield "  tidemark run of the same (seconds after start) over one prediction", ratio, "x", 1000, ratio >= 1000
    for name, fastest, median in zero2_cells(runs):
        yield f"LLaVA-1.5-7B, ZeRO-2 on 8 GPUs, 16 x 1024, three steps: {name}", fastest, "ms", 5.0, fastest <= 5
        yield "  the median", median, "ms", None, True
    ratio = statistics.median(tracker) / statistics.median(llama)
    yield "Llama-1.1B: MemTracker's three steps (imports not counted) over one prediction", ratio, "x", 3000, ratio >= 3000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    missed = False
    for name, value, unit, limit, met in rows(parser.parse_args().runs):
        stated = f"(limit {limit:g})" if limit else ""
        print(f"{name:82} {value:10.2f} {unit:4} {stated} {'' if met else 'MISSED'}".rstrip(), flush=True)
        missed = missed or not met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
