#!/usr/bin/env python3
"""Records what PyTorch's operations allocate and free on the virtual GPU: the recordings of tests/golden/ops.

usage: record_ops.py --tidemark TIDEMARK --python PYTHON --out FOLDER [--only OPERATION ...] [--random COUNT SEED]

PYTHON has torch.  The cases are in ops_cases.py, expert_cases.py, generation_cases.py, selection_cases.py, complex_cases.py, image_cases.py, loss_cases.py, speech_cases.py and attention_cases.py, or, with --random, are drawn at random: for
TIDEMARK_RECORDINGS=FOLDER golden_ops, which proves rules on shapes that they were not found on.  One process per card;
a call that PyTorch refuses is told and left out.  FOLDER/OPERATION.json gets one line per case:

    card      key of data/gpus.json
    in        the tensors: "dtype sizes [pORDER] [xSIZES] [g|w]": pORDER is the order of the dimensions in memory, xSIZES
              the sizes that it is expanded to; g: a result that needs a gradient (of `leaf + 0`), w: a leaf that does
    args      the other arguments
    autocast  the type, when torch.autocast is on during the call
    gradient  the order in memory of the gradient that comes back; without it, that of the result
    y         the result: type, sizes and strides
    forward   sizes of allocations, and of frees as negative numbers, in order, until the call returns
    drop      `z = y + 0`, then y and the arguments go: what is freed was not kept for backward
    backward  z.backward(gradient)
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import attention_cases
import complex_cases  # noqa: F401
import expert_cases  # noqa: F401
import generation_cases  # noqa: F401
import image_cases  # noqa: F401
import loss_cases  # noqa: F401
import ops_cases
import selection_cases  # noqa: F401
import speech_cases  # noqa: F401
from cases import CALLS, CASES


class Recorder:
    def __init__(self):
        import torch

        self.torch = torch

    def start(self):
        self.torch.cuda.memory._record_memory_history(enabled="all", context=None, stacks="python", max_entries=1000000, clear_history=True)

    def events(self):
        signs = {"alloc": 1, "free_requested": -1}
        trace = self.torch.cuda.memory._snapshot()["device_traces"][0]
        return [signs[entry["action"]] * entry["size"] for entry in trace if entry["action"] in signs]


def make(torch, spec):
    """The tensor of a description, and whether it is a leaf ("w"), a result ("g") or needs no gradient ("")."""
    dtype, sizes, *rest = spec.split()
    sizes = [int(n) for n in sizes.split("x")] if sizes != "scalar" else []
    flag = ""
    order = list(range(len(sizes)))
    expanded = None
    for word in rest:
        if word[0] == "p":
            order = [int(digit) for digit in word[1:]]
        elif word[0] == "x":
            expanded = [int(n) for n in word[1:].split("x")]
        else:
            flag = word
    memory = torch.zeros([sizes[d] for d in order], dtype=getattr(torch, dtype), device="cuda")
    tensor = memory.permute([order.index(d) for d in range(len(sizes))]).detach()
    if expanded:
        tensor = tensor.expand(expanded)
    if flag:
        tensor.requires_grad_()
    return tensor, flag


def describe(tensor):
    if tensor is None:
        return None
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "sizes": list(tensor.shape), "strides": list(tensor.stride())}


def record(recorder, case):
    torch = recorder.torch
    call = CALLS[case["op"]]
    made = [make(torch, spec) if spec else (None, "") for spec in case["in"]]
    leaves = [tensor for tensor, flag in made if flag]  # noqa: F841  they live as long as the call
    inputs = [tensor + 0 if flag == "g" else tensor for tensor, flag in made]
    del made
    result = {}
    recorder.start()
    if "autocast" in case:
        with torch.autocast("cuda", getattr(torch, case["autocast"])):
            y = call(inputs, case.get("args", {}))
    else:
        y = call(inputs, case.get("args", {}))
    result["y"] = describe(y)
    result["forward"] = recorder.events()
    recorder.start()
    z = y + 0 if y is not None and (y.is_floating_point() or y.is_complex()) else None
    del y
    inputs.clear()
    result["drop"] = recorder.events()
    if z is not None and z.requires_grad:
        gradient = torch.empty_like(z)
        if "gradient" in case:
            order = [int(digit) for digit in case["gradient"]]
            memory = torch.empty([z.shape[d] for d in order], dtype=z.dtype, device="cuda")
            gradient = memory.permute([order.index(d) for d in range(len(order))])
        recorder.start()
        z.backward(gradient)
        result["backward"] = recorder.events()
    return result


def warm_up(torch):
    """The workspaces of matrix products, of the program's thread and of autograd's."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = torch.zeros(16, 16, device="cuda", dtype=dtype, requires_grad=True)
        w = torch.zeros(16, 16, device="cuda", dtype=dtype, requires_grad=True)
        b = torch.zeros(16, device="cuda", dtype=dtype, requires_grad=True)
        torch.nn.functional.linear(x, w, b).sum().backward()
        if dtype != torch.float32:
            with torch.autocast("cuda", dtype):  # asks the card once whether it has bfloat16
                pass


def child(job):
    import torch

    with open(job) as file:
        cases = json.load(file)
    recorder = Recorder()
    warm_up(torch)
    recorded = []
    for case in cases:
        if case.get("cold"):
            torch._C._cuda_clearCublasWorkspaces()
        try:
            recorded.append({**case, **record(recorder, case)})
        except RuntimeError as error:
            if "no kernel image" in str(error):
                raise
            print(f"refused: {json.dumps(case)}: {error}", file=sys.stderr)
        if case.get("cold"):
            warm_up(torch)
    with open(job, "w") as file:
        json.dump(recorded, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--random", nargs=2, type=int, metavar=("COUNT", "SEED"))
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        return child(options.child)
    if options.random:
        CASES.clear()
        attention_cases.random_attention(*options.random)
        ops_cases.random_cases(*options.random)
    cases = [case for case in CASES if not options.only or case["op"] in options.only]
    recorded = []
    for card in sorted({case["card"] for case in cases}):
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder) / "cases.json"
            job.write_text(json.dumps([case for case in cases if case["card"] == card]))
            command = [options.tidemark, "run", "--gpu", card, "--steps", "1000000", "--", options.python, __file__, "--child", str(job)]
            environment = dict(os.environ, PATH=f"{pathlib.Path(options.python).parent}:{os.environ['PATH']}")
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{card}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
            refused = [line for line in done.stderr.splitlines() if line.startswith("refused: ")]
            print("".join(f"{line}\n" for line in refused), end="", flush=True)
            recorded += json.loads(job.read_text())
    options.out.mkdir(parents=True, exist_ok=True)
    for op in sorted({case["op"] for case in recorded}):
        rows = [json.dumps({key: value for key, value in case.items() if key != "op"}, separators=(",", ":")) for case in recorded if case["op"] == op]
        (options.out / f"{op}.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")
        print(f"{op}: {len(rows)} cases")


if __name__ == "__main__":
    main()
