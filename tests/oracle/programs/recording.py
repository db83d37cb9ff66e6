"""Runs named cases one after the other and writes the allocator's events of each: {case: [[action, address, size, stream], …]}."""

import gc
import json

import torch


def record(cases, out):
    # What lies in a cycle dies when the collector runs, and that hangs on every Python object that anybody makes, bare or not: it runs
    # between the cases alone.
    gc.disable()
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=2_000_000)
    result, seen = {}, 0
    for name, case in cases.items():
        torch.manual_seed(0)
        case()
        gc.collect()
        torch.cuda.empty_cache()
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        result[name], seen = trace[seen:], len(trace)
    base = min(event["addr"] for events in result.values() for event in events if event["action"] == "segment_alloc")
    plain = {name: [[e["action"], max(e["addr"] - base, -1), e["size"], int(e["stream"] != 0)] for e in events if e["action"] != "snapshot"] for name, events in result.items()}
    with open(out, "w") as file:
        json.dump(plain, file)
