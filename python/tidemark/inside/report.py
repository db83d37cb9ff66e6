"""The report of one process, `tidemark.report/1` (docs/reference/report.schema.json).  The launcher adds the card's side of it."""

import collections
import json
import os
import platform
import resource
import sys
import time

from . import batches, compiling, counters, door, losses, marks, modules, phases, relied_on, replays, stages, steps, world
from .epoch import whole
from .events import ALLOC, CATEGORIES, FREE_COMPLETED, FREE_REQUESTED, LINES, MODULES, OPERATIONS, OUT_OF_MEMORY, PHASES, Events, Peak, short_path, step_of, texts
from .serving import block as serving_block

TIMELINE_POINTS = 2000
NO_LINE = "(no Python line)"  # python_frames.cpp


def write(session, stopped_after_steps):
    """Puts `report-PID.json` into the run folder, whole or not at all."""
    import torch

    if door.has("events"):
        steps.steps.mark_what_optimizers_hold()
        modules.mark_all_parameters()
    stats = torch.cuda.memory_stats(world.local_rank)
    events = Events(stats["active_bytes.all.current"])
    if not (events.count or stats["segment.all.allocated"]):
        _refuse_another_card()
        return
    report = _report(session, _seen(session, events, stats) if door.has("events") else _counted(session, stats), stopped_after_steps)
    path = os.path.join(session.run_dir, f"report-{os.getpid()}.json")
    with open(path + ".new", "w") as file:
        json.dump(report, file)
    os.replace(path + ".new", path)
    if os.environ.get("TIDEMARK_EVENTS"):
        _write_events(events, os.environ["TIDEMARK_EVENTS"])
    if os.environ.get("TIDEMARK_COMPLETIONS"):
        _write_completions(events, os.environ["TIDEMARK_COMPLETIONS"])
    if os.environ.get("TIDEMARK_SNAPSHOT") and relied_on.holds("snapshot"):
        from . import snapshot

        snapshot.write(events, os.environ["TIDEMARK_SNAPSHOT"])


def _on_other_cards():
    """{card: most bytes allocated on it} of the node's cards that are not this rank's."""
    import torch

    peaks = {card: torch.cuda.memory_stats(card).get("allocated_bytes.all.peak", 0) for card in range(torch.cuda.device_count()) if card != world.local_rank}
    return {card: peak for card, peak in peaks.items() if peak}


def _refuse_another_card():
    if used := _on_other_cards():
        world.refuse(f"rank {world.rank} used card {min(used)} of its node, and its own is {world.local_rank}", "call torch.cuda.set_device(int(os.environ['LOCAL_RANK'])) before anything is moved to the card")


def _seen(session, events, stats):
    """What the allocator's events tell."""
    step_ends = list(steps.steps.ends)
    epoch = whole.answer(session, events, step_ends)
    steady = None if epoch.peak else compiling.without(events, session.run_dir, step_ends)
    seen = Peak.of(events, step_ends)
    peak = epoch.peak or (steady.peak if steady else seen)
    phase = PHASES[peak.row[8]]
    return {
        "peak": {
            "allocated_bytes": peak.allocated_bytes,
            "reserved_bytes": peak.reserved_bytes,
            **_physical(peak.reserved_bytes),
            "requested_bytes": sum(row[1] for _, row in peak.live),
            "step": peak.step,
            "phase": "load" if peak.step == 1 and phase == "other" else phase,
        },
        "interval": _between(peak, epoch.others) if epoch.peak else _interval(session, events, peak, steady),
        **_compiling(seen, peak, steady),
        **({"data": epoch.data} if epoch.data else {}),
        "steps": _per_step(events, step_ends),
        **_stages(events),
        "varying_inputs": batches.batches.varying(),
        "at_peak": _at_peak(peak.live),
        **_timeline(events, step_ends),
        "oom": _out_of_memory(session, events, step_ends),
        "assumptions": _caught_out_of_memory(session, events, step_ends),
        "consistent": _consistent(events, stats),
    }


def _physical(reserved_bytes):
    """Memory that is unmapped while it stays reserved (vLLM's sleep mode) takes no bytes of the device."""
    held = door.device_peak_bytes(world.local_rank)
    return {"physical_bytes": held} if held < reserved_bytes else {}


def _counted(session, stats):
    """What PyTorch's own counters tell."""
    counters.counters.close_span(phases.phase.current)
    return counters.counters.account(_out_of_memory_message(session.failure), stats["num_ooms"])


def _report(session, memory, stopped_after_steps):
    of_many = {"rank": {"rank": world.rank, "ranks": world.ranks, "ranks_per_node": world.ranks_per_node}} if world.ranks > 1 else {}
    if "torch.distributed.tensor" in sys.modules:
        relied_on.holds("dtensor_parts")
    return {
        **of_many,
        "schema": "tidemark.report/1",
        "engine": "run",
        **serving_block.block(session.run_dir),
        "communicators": _communicators(),
        **memory,
        "assumptions": losses.rows()
        + memory["assumptions"]
        + [{"what": f"card {card} of the node is not this rank's: up to {peak:,} bytes on it are not counted", "where": "", "count": 1} for card, peak in _on_other_cards().items()]
        + _assumptions(),
        "versions": _versions(),
        "script": {"command": list(sys.orig_argv), "exit_code": 0, "stopped_after_steps": stopped_after_steps},
        "host": {
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "seconds": round(time.time() - session.started, 3),
            "pageable_bytes": door.library().tidemark_host_memory_peak_bytes(),
            "pinned_bytes": door.host_peak_bytes("pinned"),
            "managed_bytes": door.host_peak_bytes("managed"),
        },
    }


def _communicators():
    across = lambda ranks: len({rank // world.ranks_per_node for rank in ranks}) > 1
    return [{"name": name, "ranks": ranks, "across_nodes": across(ranks), "collective": collective, "peers": peers} for name, ranks, collective, peers in door.communicators()]


def _consistent(events, stats):
    """Whether our account of the events ends where the allocator's own counters stand."""
    return events.truncated or (events.allocated[-1] == stats["allocated_bytes.all.current"] and events.reserved[-1] == stats["reserved_bytes.all.current"])


def _per_step(events, step_ends):
    """What follows the last step is a row of its own if anything was allocated there (an evaluation, an unfinished step)."""
    rows, start = [], 0
    tail = step_ends[-1] if step_ends else 0
    goes_on = not step_ends or any(row[7] == ALLOC for row in events.rows[tail:])
    for number, end in enumerate(step_ends + ([events.count] if goes_on else []), 1):
        if end > start:
            rows.append({"step": number, **_span(events, start, end), "phases": _phases(events, start, end)})
        start = end
    return rows


def _stages(events):
    found = stages.rows(events)
    return {"stages": found} if found else {}


def _span(events, start, end):
    return {"peak_allocated_bytes": max(events.allocated[start:end]), "peak_reserved_bytes": max(events.reserved[start:end]), "end_allocated_bytes": events.allocated[end - 1]}


def _phases(events, start, end):
    spans, first = [], start
    for i in range(start, end):
        if i + 1 == end or events.phase(i + 1) != events.phase(i):
            spans.append({"phase": events.phase(i), **_span(events, first, i + 1)})
            first = i + 1
    merged = {}
    for span in spans:
        known = merged.setdefault(span["phase"], dict(span))
        for key in ("peak_allocated_bytes", "peak_reserved_bytes"):
            known[key] = max(known[key], span[key])
        known["end_allocated_bytes"] = span["end_allocated_bytes"]
    return list(merged.values())


def _at_peak(live):
    operations, module_names, lines = texts(OPERATIONS), texts(MODULES), texts(LINES)
    groups = {name: collections.Counter() for name in ("by_category", "by_module", "by_line", "by_operation")}
    for size, row in live:
        groups["by_category"][CATEGORIES[row[9]]] += size
        for module, part in marks.shares.of(row[0], row[9], row[5], size):
            groups["by_module"][module_names[module] or "(no module)"] += part
        groups["by_line"][lines[row[6]]] += size
        groups["by_operation"][operations[row[4]] or "(no operation)"] += size
    return {name: [{"name": key, "bytes": size} for key, size in counter.most_common() if size] for name, counter in groups.items()}


def _timeline(events, step_ends):
    """At most TIMELINE_POINTS points; of every stretch the highest one is kept."""
    stride = max(1, -(-events.count // TIMELINE_POINTS))
    points = []
    for start in range(0, events.count, stride):
        i = max(range(start, min(start + stride, events.count)), key=lambda j: events.allocated[j])
        points.append({"event": i, "allocated_bytes": events.allocated[i], "reserved_bytes": events.reserved[i], "step": step_of(i, step_ends), "phase": events.phase(i)})
    return {"timeline": points, "timeline_by_category": _by_category(events, [point["event"] for point in points])}


def _by_category(events, indices):
    """What is allocated right after each of the events, of each category that has any; in the order of the other engine."""
    live, rows = [0] * len(CATEGORIES), []
    blocks = {}  # address: (bytes, category)
    wanted = set(indices)
    for i, row in enumerate(events.rows):
        if row[7] == ALLOC:
            blocks[row[0]] = size, category = events.block_bytes(i), row[9]
            live[category] += size
        elif row[7] == FREE_REQUESTED and row[0] in blocks:
            size, category = blocks[row[0]]
            live[category] -= size
        if i in wanted:
            rows.append(live.copy())
    order = sorted(range(len(CATEGORIES)), key=lambda category: (CATEGORIES[category] == "other", category))
    return [{"name": CATEGORIES[category], "bytes": [row[category] for row in rows]} for category in order if any(row[category] for row in rows)]


def _interval(session, events, peak, steady):
    """Peaks if the driver handed out addresses in the other order, and if the card were infinitely fast or slow; None if that changes nothing."""
    if events.truncated or any(row[7] == OUT_OF_MEMORY for row in events.rows):
        return None
    answers = replays.answers(session.run_dir, steady.requests, steady.requests.before) if steady else replays.answers(session.run_dir, events)
    unknown = "".join(f"; {world}: {answer or 'not known'}" for world, answer in answers.items() if not answer[:1].isdigit())
    streams = ", and memory that other streams used given back at once or when the program waits for them" if len(answers) > 1 else ""
    return _between(peak, [tuple(map(int, answer.split())) for answer in answers.values() if answer[:1].isdigit()], streams + unknown, known=not unknown)


def _between(peak, others, why="", known=True):
    """The interval of a peak and of what else it could have been: (allocated, reserved) each."""
    ours = (peak.allocated_bytes, peak.reserved_bytes)
    if {ours, *others} == {ours} and known:
        return None
    allocated, reserved = zip(ours, *others)
    return {
        "allocated_bytes": [min(allocated), max(allocated)],
        "reserved_bytes": [min(reserved), max(reserved)],
        "why": "equal free blocks are taken by address; the two ends are segments placed upwards and downwards" + why,
    }


def _out_of_memory(session, events, step_ends):
    """The out-of-memory error that ended the program; None if there was none, or if the program caught it and went on."""
    found = _out_of_memory_events(events)
    if not found:
        return None
    i, message = found[-1], _out_of_memory_message(session.failure)
    if message is None and any(row[7] == ALLOC for row in events.rows[i:]):
        return None
    return {
        "requested_bytes": events.rows[i][1],
        "message": message or "CUDA out of memory (the program caught the error and ended)",
        "step": step_of(i, step_ends),
        "phase": events.phase(i),
        "where": texts(LINES)[events.rows[i][6]],
    }


def _out_of_memory_events(events):
    return [i for i, row in enumerate(events.rows) if row[7] == OUT_OF_MEMORY]


def _out_of_memory_message(error):
    """Of the error that ended the program, or of one that led to it."""
    import torch

    while error is not None and not isinstance(error, torch.OutOfMemoryError):
        error = error.__cause__ or error.__context__
    return str(error) if error is not None else None


def _caught_out_of_memory(session, events, step_ends):
    """What the reader must know of errors that the program survived: the peak includes the attempts that failed."""
    found = _out_of_memory_events(events)
    survived = found[:-1] if _out_of_memory(session, events, step_ends) else found
    if not survived:
        return []
    return [{"what": "out of memory, caught by the program, which went on: the peak includes the failed attempts", "where": texts(LINES)[events.rows[survived[-1]][6]], "count": len(survived)}]


def _assumptions():
    rows = []
    for line in door.library().tidemark_assumptions().decode(errors="replace").splitlines():
        count, what, where = line.split("\t")
        rows.append({"what": what, "where": "" if where == NO_LINE else short_path(where), "count": int(count)})
    if used := replays.blocks_used_elsewhere():
        asked, not_ready = door.event_answers()
        rows.append({"what": f"memory that another stream used, given back when {_EVENT_ORDERS[_event_order()]}; of {asked} questions whether an event had completed {not_ready} were answered no", "where": "", "count": used})
    return sorted(rows, key=lambda row: -row["count"])


_EVENT_ORDERS = {
    "instant": "it was freed (--event-order instant)",
    "clock": "a clock of estimated kernel and link times says so (--event-order clock)",
    "late": "the program waits for that stream (--event-order late)",
}


def _event_order():
    return os.environ.get("TIDEMARK_CLOCK", "clock")


def _compiling(seen, peak, steady):
    """The peak with what compiling had, where that is not the one reported or the cache was cold."""
    graphs, with_it = _compiled_now(), (seen.allocated_bytes, seen.reserved_bytes)
    if not steady or not (graphs or with_it != (peak.allocated_bytes, peak.reserved_bytes)):
        return {}
    return {"compiling": {"graphs": graphs, "peak_allocated_bytes": with_it[0], "peak_reserved_bytes": with_it[1]}}


def _compiled_now():
    """How many graphs torch.compile had to compile because its cache did not have them."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo.counters["inductor"]["fxgraph_cache_miss"] if dynamo else 0


def _versions():
    import torch

    found = {"torch": torch.__version__, "cuda": torch.version.cuda, "python": platform.python_version()}
    for name in ("transformers", "peft", "accelerate", "trl", "diffusers", "torchvision", "bitsandbytes", "liger_kernel", "triton", "lightning", "deepspeed"):
        module = sys.modules.get(name)
        if module is not None:
            found[name] = str(getattr(module, "__version__", "unknown"))
    return found


def _write_completions(events, path):
    """`+bytes` for an allocation, `-bytes` for a free, `=bytes` where a freed block had waited for other streams and is free now; bytes as they were asked for."""
    with open(path, "w") as file:
        for i, row in enumerate(events.rows):
            if row[7] == ALLOC:
                file.write(f"+{row[1]}\n")
            elif row[7] == FREE_REQUESTED:
                file.write(f"-{row[1]}\n")
            elif row[7] == FREE_COMPLETED and (events.rows[i - 1][7], events.rows[i - 1][0]) != (FREE_REQUESTED, row[0]):
                file.write(f"={row[1]}\n")


def _write_events(events, path):
    """One line per allocation and free: `+bytes operation module`, for finding the first event in which two runs differ."""
    operations, module_names = texts(OPERATIONS), texts(MODULES)
    sizes = {}
    with open(path, "w") as file:
        for i, row in enumerate(events.rows):
            if row[7] == ALLOC:
                sizes[row[0]] = events.block_bytes(i)
                file.write(f"+{sizes[row[0]]} {operations[row[4]] or '-'} {module_names[row[5]] or '-'}\n")
            elif row[7] == FREE_REQUESTED:
                file.write(f"-{sizes.get(row[0], 0)} {operations[row[4]] or '-'} {module_names[row[5]] or '-'}\n")
