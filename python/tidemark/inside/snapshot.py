"""The run as a snapshot that PyTorch's memory viewer opens (the format of torch.cuda.memory._dump_snapshot)."""

import pickle

from .events import EMPTY_CACHE, LINES, MODULES, OPERATIONS, texts

ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "oom")


def write(events, path):
    """Segments as they are now, from the allocator itself; the trace from our own log, with module, operation and line as frames."""
    import torch

    snapshot = torch.cuda.memory._snapshot()
    operations, modules, lines = texts(OPERATIONS), texts(MODULES), texts(LINES)
    trace = []
    for row in events.rows:
        if row[7] == EMPTY_CACHE:
            continue
        filename, _, line = lines[row[6]].rpartition(":")
        frames = [
            {"filename": filename or lines[row[6]], "line": int(line) if line.isdigit() else 0, "name": operations[row[4]] or "(no operation)"},
            {"filename": modules[row[5]] or "(no module)", "line": 0, "name": modules[row[5]] or "(no module)"},
        ]
        trace.append({"action": ACTIONS[row[7]], "addr": row[0], "size": row[1], "stream": row[3], "time_us": len(trace), "frames": frames})
    snapshot["device_traces"] = [trace]
    with open(path, "wb") as file:
        pickle.dump(snapshot, file)
