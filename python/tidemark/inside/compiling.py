"""When torch.compile is at work, and what the peak is without what it allocates then and gives back.

A run that finds its caches full neither tries kernels out nor makes the tensors with which they are tried; what it asks for otherwise is the same, request
by request. Blocks are not: what compiling leaves in the allocator's cache is taken again, so that the peak of the other requests is asked of PyTorch's own
allocator (virtual_gpu/replay).
"""

import dataclasses
import functools
import itertools
import os

from . import door, replays
from .events import ALLOC, FREE_COMPLETED, FREE_REQUESTED, LAYOUT, OUT_OF_MEMORY, Peak, step_of


class Spans:
    """Stretches of the allocator's events: (number of the first, number after the last)."""

    def __init__(self):
        self.found = []
        self.depth = 0  # a kernel may be tuned while a graph is compiled
        self.start = 0

    def begin(self, *_):
        if self.depth == 0:
            self.start = door.library().tidemark_event_count()
        self.depth += 1

    def end(self, *_):
        self.depth -= 1
        stop = door.library().tidemark_event_count()
        if self.depth == 0 and stop > self.start:
            self.found.append((self.start, stop))


spans = Spans()


def watch_graphs():
    """Torch tells when it compiles one, the backward's (since 2.7) and the recording of CUDA graphs too."""
    from torch._dynamo.callback import callback_handler

    callback_handler.register_start_callback(spans.begin)
    callback_handler.register_end_callback(spans.end)


def watch_tuning():
    """Kernels are tuned when they are first launched, which torch does not tell (torch/_inductor/runtime/triton_heuristics.py, 2.6 to 2.15)."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    for name in ("autotune_to_one_config", "coordinate_descent_tuning"):
        _watch(CachingAutotuner, name)


def _watch(owner, name):
    real = getattr(owner, name)

    @functools.wraps(real)
    def tuned(*args, **kwargs):
        spans.begin()
        try:
            return real(*args, **kwargs)
        finally:
            spans.end()

    setattr(owner, name, tuned)


@dataclasses.dataclass(frozen=True)
class Steady:
    """The run without what compiling had for a while."""

    peak: object  # `Peak`
    requests: object  # `Requests`


class Requests:
    """Those of a run that are not in `left_out` (numbers of events), for the replay."""

    def __init__(self, events, left_out):
        self.rows = [(number, row) for number, row in enumerate(events.rows) if number not in left_out]
        self.raw = b"".join(events.raw[number * LAYOUT.size : (number + 1) * LAYOUT.size] for number, _ in self.rows)
        self.before = list(itertools.accumulate((number not in left_out for number in range(events.count)), initial=0))  # of an event, how many others are kept


def without(events, run_dir, step_ends):
    """The `Steady` of a run; None if compiling had nothing, if it is not known, or if the card was full, which has made the program do something else."""
    left_out = _had_for_a_while(events.rows, spans.found)
    if not left_out or events.truncated or door.replay_command() is None or any(row[7] == OUT_OF_MEMORY for row in events.rows):
        return None
    requests, path = Requests(events, left_out), os.path.join(run_dir, "steady.bin")
    with open(path, "wb") as file:
        file.write(requests.raw)
    try:
        answer = replays.replay(path, run_dir, replays.UPWARDS)
        if not answer[:1].isdigit():
            return None
        allocated, reserved = map(int, answer.split())
        held = dict(map(int, line.split()) for line in replays.replay(path, run_dir, replays.UPWARDS, f"at:{allocated}").splitlines())
    finally:
        os.unlink(path)
    return Steady(_peak(requests.rows, allocated, reserved, held, step_ends), requests)


def _had_for_a_while(rows, found):
    """Numbers of the events of blocks that were asked for and given back while torch.compile was at work."""
    at_work = bytearray(len(rows))
    for start, stop in found:
        at_work[start:stop] = b"\1" * (stop - start)
    left_out, taken, given_back = set(), {}, set()
    for number, row in enumerate(rows):
        address, action = row[0], row[7]
        if action == ALLOC:
            given_back.discard(address)
            taken[address] = number
        elif action == FREE_REQUESTED and (first := taken.pop(address, None)) is not None and at_work[first] and at_work[number]:
            left_out |= {first, number}
            given_back.add(address)
        elif action == FREE_COMPLETED and address in given_back:
            left_out.add(number)
            given_back.discard(address)
    return left_out


def _peak(rows, allocated, reserved, held, step_ends):
    """Where exactly the blocks `held`, {address: bytes}, are allocated for the first time."""
    live = {}
    for number, row in rows:
        if row[7] == ALLOC:
            live[row[0]] = row
            if len(live) == len(held) and live.keys() == held.keys():
                return Peak(allocated, reserved, step_of(number, step_ends), row, [(held[address], live[address]) for address in live])
        elif row[7] == FREE_REQUESTED:
            live.pop(row[0], None)
    raise LookupError("the replay holds what the run never held")
