"""How long `tidemark run` takes and how much host memory, side by side with the same imports and the smallest training.

    python bench/bench_run.py [--runs 5] [--only llava]

Prints one row per program: seconds after imports (median of the runs, and the ratio to the imports, taken in turn in the same
session), peak host memory.  The limits that the project states are beside them; a row that misses one makes the exit code 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIDEMARK = os.environ.get("TIDEMARK_BIN", os.path.join(ROOT, "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", os.path.join(ROOT, ".venv/bin/python"))

# name: (arguments of tidemark run, the program, what it imports, at most seconds after imports, at most GiB of host memory)
PROGRAMS = {
    "llava": (["--gpu", "h200", "--steps", "3"], ["examples/llava_pretrain.py", "--batch", "16", "--sequence", "1024"], "import torch, transformers; from transformers import LlavaForConditionalGeneration", 8.0, 4.0),
    "llava-zero2": (
        ["--gpu", "h100-80gb", "--memory", "1000GiB", "--gpus", "8", "--steps", "3"],
        ["-m", "torch.distributed.run", "--nproc-per-node", "8", "examples/deepspeed_llava.py", "--zero", "2", "--stage", "full", "--sequence", "1024", "--batch", "16"],
        "import torch, transformers, deepspeed; from transformers import LlavaForConditionalGeneration",
        20.0,
        16.0,
    ),
    "falcon-7b": (["--gpu", "h200", "--steps", "3"], ["bench/falcon_7b.py"], "import torch, transformers; from transformers import FalconForCausalLM", 25.0, 4.0),
    "llama-70b": (["--gpu", "h200", "--memory", "800GB", "--steps", "3"], ["bench/llama_70b.py"], "import torch, transformers; from transformers import LlamaForCausalLM", None, 16.0),
}

# The smallest training, so that it ends as the other does.
SMALLEST = """
w = torch.nn.Parameter(torch.ones(1, device="cuda"))
optimizer = torch.optim.SGD([w], lr=1e-3)
for _ in range(3):
    w.sum().backward()
    optimizer.step()
"""


def timed(command):
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(name, runs):
    options, program, imports, _, _ = PROGRAMS[name]
    whole, alone, memory = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [TIDEMARK, "run", *options, "--json", report, "--", PYTHON, *program]
        timed(command)  # builds what is cached, warms the disk
        for _ in range(runs):
            alone.append(timed([TIDEMARK, "run", *options, "--", PYTHON, "-c", imports + SMALLEST]))
            whole.append(timed(command))
            with open(report) as file:
                memory.append(json.load(file)["host"]["peak_rss_bytes"])
    return whole, alone, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    arguments = parser.parse_args()
    missed = False
    print(f"{'program':<12} {'whole s':>8} {'imports s':>10} {'after imports s':>16} {'ratio':>6} {'limit s':>8} {'host GiB':>9} {'limit GiB':>10}")
    for name in [arguments.only] if arguments.only else PROGRAMS:
        whole, alone, memory = measure(name, arguments.runs)
        after = statistics.median(w - a for w, a in zip(whole, alone))
        ratio = statistics.median(w / a for w, a in zip(whole, alone))
        host = max(memory) / 2**30
        _, _, _, seconds, gib = PROGRAMS[name]
        missed |= (seconds is not None and after > seconds) or host > gib
        print(f"{name:<12} {statistics.median(whole):>8.2f} {statistics.median(alone):>10.2f} {after:>16.2f} {ratio:>6.2f} {seconds or '-':>8} {host:>9.2f} {gib:>10}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
