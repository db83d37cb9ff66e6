"""A prediction in Python's own process, beside the command's: what a call costs.

    python bench/bench_python.py [--calls 200]

Processor time, which others on the machine do not lengthen, of all calls by their number, and the median of the time that passes.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIDEMARK = os.environ.setdefault("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
sys.path.insert(0, str(ROOT / "python"))
import tidemark
from tidemark import core

MODELS = {"GPT-2, batch 4": ({"model_type": "gpt2"}, {"batch": 4, "seq": 512, "gpu": "l4"})}
LLAVA = json.loads((ROOT / "bench/llava.json").read_text())
MODELS["LLaVA-1.5-7B, batch 16"] = (LLAVA.pop("model"), LLAVA)


def processor_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measured(call, calls):
    call()
    times, before = [], processor_seconds()
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return (processor_seconds() - before) / calls * 1e6, statistics.median(times) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    assert core.is_in_process()
    print("| question | way | processor, us a call | passed, us a call |\n| --- | --- | --- | --- |")
    for name, (model, options) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "spec.json")
            spec.write_text(json.dumps({**options, "model": model}))
            question = json.dumps({"spec": {**options, "model": model}})
            ways = {
                "the library, JSON to JSON": (lambda: core.answerer()("predict", question), calls),
                "`tidemark.predict`, to a Report": (lambda: tidemark.predict(model, **options), calls),
                "`tidemark predict --json`, a process": (lambda: subprocess.run([TIDEMARK, "predict", "--quiet", "--spec", spec, "--json", pathlib.Path(folder, "r.json")], stdout=subprocess.DEVNULL, check=False), max(10, calls // 4)),
            }
            for way, (call, times) in ways.items():
                processor, passed = measured(call, times)
                print(f"| {name} | {way} | {processor:,.0f} | {passed:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
