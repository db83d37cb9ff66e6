"""Starts programs on the virtual GPU, bare or under the whole of Tidemark, and compares what the allocator did.

*Bare* is the stand-ins for NVIDIA's libraries alone: PyTorch as it is, float and integer data garbage, nothing watched.  A program that
depends on no integer must give the same allocator events, one by one, in both.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build" / "release" / "apps" / "cli" / "tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", sys.executable)


def versions_of(*packages):
    """{package: version} of what the programs run with, a build's name left out."""
    code = "import json, sys; from importlib.metadata import version; print(json.dumps({name: version(name).split('+')[0] for name in sys.argv[1:]}))"
    return json.loads(subprocess.run([PYTHON, "-c", code, *packages], capture_output=True, text=True, check=True).stdout)


def tidemark_run(program, *arguments, options=("--keep-going",), gpu="a100-80gb", environment=None, timeout=900):
    """`tidemark run -- python program arguments`; returns the finished process (its output as text)."""
    command = [TIDEMARK, "run", "--gpu", gpu, "--quiet", *options, "--", PYTHON, str(program), *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True, text=True, timeout=timeout)


def report_of(program, *arguments, folder, options=("--keep-going",), expect=0, **more):
    """The report (as a dictionary) and the output of a program that is expected to end with that exit code."""
    path = Path(folder) / "report.json"
    done = tidemark_run(program, *arguments, options=(*options, "--json", str(path)), **more)
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


def allocator_events(program, *arguments, folder, bare, event_order="instant"):
    """What `programs/recording.py` wrote: {case: [[action, address, size, stream], …]}.  Under Tidemark also the names of its allocations.

    Bare, the clock knows no operation and so estimates other times; `instant` and `late` do without.
    """
    out, named = Path(folder) / ("bare.json" if bare else "whole.json"), Path(folder) / "named.txt"
    first = (PROGRAMS / "bare.py", program) if bare else (program,)
    done = tidemark_run(*first, out, *arguments, options=("--keep-going", "--event-order", event_order), environment={"TIDEMARK_EVENTS": str(named)})
    assert out.exists(), done.stdout + done.stderr
    names = [line[1:].split(" ", 1) for line in named.read_text().splitlines() if line.startswith("+")] if not bare else []
    return json.loads(out.read_text()), names


def in_any_order_of_frees(events, with_addresses=True):
    """Events with each run of consecutive frees sorted by address, or by size and without addresses."""
    if not with_addresses:
        events = [(kind, size, *rest) for kind, _, size, *rest in events]
    result, run = [], []
    for event in events:
        if event[0].startswith("free"):
            run.append(event)
        else:
            result += sorted(run, key=lambda e: (e[1], e[0]))
            result.append(event)
            run = []
    return result + sorted(run, key=lambda e: (e[1], e[0]))


def first_divergence(bare, whole, names=(), first_allocation=0):
    """None, or a text that shows the first event that differs, with what was allocated before and after: `+bytes operation module`."""
    for i, (a, b) in enumerate(zip(bare, whole)):
        if a != b:
            break
    else:
        if len(bare) == len(whole):
            return None
        i = min(len(bare), len(whole))
    allocation = first_allocation + sum(1 for event in whole[:i] if event[0] == "alloc")
    around = ["+" + " ".join(name) for name in names[max(0, allocation - 3) : allocation + 3]]
    show = lambda events: events[i] if i < len(events) else "(no more events)"
    return f"event {i} of {len(bare)} and {len(whole)}: bare {show(bare)}, with Tidemark {show(whole)}\n" + "\n".join(around)
