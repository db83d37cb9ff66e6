"""Peaks from PyTorch's own counters, per step and phase: what is left where the allocator's events are not watched.

A phase's peak is the counter's since the phase began, so the counter is reset there.  The program must not see that: what it asks for
has the peaks that were reset put back.
"""

import re

from . import phases, world

_ASKED_FOR = re.compile(r"Tried to allocate ([\d.]+) (bytes|KiB|MiB|GiB|TiB)")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class Counters:
    def __init__(self, memory):
        self.real_stats = memory.memory_stats_as_nested_dict
        self.real_reset = memory.reset_peak_memory_stats
        self.hidden = {}  # peaks that we reset and the program did not
        self.spans = []  # (phase, peak allocated, peak reserved, allocated at the end)
        self.step_ends = []  # number of spans when each step ended

    def close_span(self, phase):
        stats = self.real_stats(world.local_rank)
        if not stats:
            return  # CUDA has not begun
        _raise_peaks(self.hidden, stats)
        self.real_reset(world.local_rank)
        allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
        self.spans.append((phases.NAMES[phase], allocated["peak"], reserved["peak"], allocated["current"]))

    def stats_as_the_program_has_them(self, device):
        stats = self.real_stats(device=device)
        if stats and _is_ours(device):
            _put_back(stats, self.hidden)
        return stats

    def reset_by_the_program(self, device, phase):
        if _is_ours(device):
            self.close_span(phase)
            self.hidden.clear()
        self.real_reset(device=device)

    def account(self, failure, refused):
        """The parts of the report that the events would have given."""
        rows, start = [], 0
        ends = [*self.step_ends, len(self.spans)] if not self.step_ends or self.step_ends[-1] < len(self.spans) else self.step_ends
        for number, end in enumerate(ends, 1):
            if end > start:
                rows.append({"step": number, **_merged(self.spans[start:end]), "phases": _by_phase(self.spans[start:end])})
            start = end
        top = max(rows, key=lambda row: row["peak_allocated_bytes"])
        phase = max(top["phases"], key=lambda row: row["peak_allocated_bytes"])["phase"]
        peak = {"allocated_bytes": top["peak_allocated_bytes"], "reserved_bytes": max(row["peak_reserved_bytes"] for row in rows), "step": top["step"], "phase": "load" if top["step"] == 1 and phase == "other" else phase}
        oom = {"requested_bytes": _asked_for(failure), "message": failure, "step": rows[-1]["step"], "phase": self.spans[-1][0], "where": ""} if failure else None
        survived = refused - (1 if failure else 0)
        caught = [{"what": "out of memory, caught by the program, which went on: the peak includes the failed attempts", "where": "", "count": survived}] if survived > 0 else []
        return {"peak": peak, "interval": None, "steps": rows, "oom": oom, "assumptions": caught}


def _merged(spans):
    return {"peak_allocated_bytes": max(span[1] for span in spans), "peak_reserved_bytes": max(span[2] for span in spans), "end_allocated_bytes": spans[-1][3]}


def _by_phase(spans):
    names = list(dict.fromkeys(span[0] for span in spans))
    return [{"phase": name, **_merged([span for span in spans if span[0] == name])} for name in names]


def _raise_peaks(kept, stats):
    for key, value in stats.items():
        if isinstance(value, dict):
            _raise_peaks(kept.setdefault(key, {}), value)
        elif key == "peak":
            kept[key] = max(kept.get(key, 0), value)


def _put_back(stats, kept):
    for key, value in kept.items():
        if isinstance(value, dict):
            _put_back(stats.get(key, {}), value)
        elif key in stats:
            stats[key] = max(stats[key], value)


def _is_ours(device):
    import torch

    return torch.cuda._utils._get_device_index(device, optional=True) == world.local_rank


def _asked_for(message):
    """As precise as PyTorch's message is."""
    found = _ASKED_FOR.search(message)
    return round(float(found[1]) * _UNITS[found[2]]) if found else 0


counters = None  # made where they are needed


def start():
    global counters
    import torch

    memory = torch.cuda.memory
    counters = Counters(memory)

    def memory_stats_as_nested_dict(device=None):
        return counters.stats_as_the_program_has_them(device)

    def reset_peak_memory_stats(device=None):
        counters.reset_by_the_program(device, phases.phase.current)

    for module in (memory, torch.cuda):
        module.memory_stats_as_nested_dict, module.reset_peak_memory_stats = memory_stats_as_nested_dict, reset_peak_memory_stats
    phases.phase.when_it_changes = counters.close_span


def memory_now():
    """(allocated bytes, the most so far, the most reserved so far) of this rank's card."""
    import torch

    stats = torch.cuda.memory_stats(world.local_rank)
    return stats["allocated_bytes.all.current"], stats["allocated_bytes.all.peak"], stats["reserved_bytes.all.peak"]


def step_ended():
    if counters is not None:
        counters.close_span(phases.phase.current)
        counters.step_ends.append(len(counters.spans))
