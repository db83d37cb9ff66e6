"""An epoch as a file of events, what PyTorch's own allocator makes of it (virtual_gpu/replay), and what it holds at the peak."""

import bisect
import dataclasses
import itertools
import os

from .. import replays
from ..events import ALLOC, FREE_COMPLETED, FREE_REQUESTED, LAYOUT, Peak
from .stretches import NotKnown, follow

FIRST_MADE_UP_ADDRESS = 1 << 60


@dataclasses.dataclass(frozen=True)
class Epoch:
    events: object  # `Events` of what was run
    recorded: int  # how many of them are taken as they were
    step_ends: list  # and where their steps end
    steps: list  # of each step that follows, its `Stretch`es

    def write(self, path):
        live, addresses = {}, itertools.count(FIRST_MADE_UP_ADDRESS)
        for row in self.events.rows[: self.recorded]:
            follow(live, row[0], row[7])
        with open(path, "wb") as file:
            file.write(self.events.raw[: self.recorded * LAYOUT.size])
            for stretch in itertools.chain.from_iterable(self.steps):
                file.write(_events_of(stretch, live, addresses))

    def peak(self, allocated, reserved, held):
        """The `Peak` at which the blocks `held`, {address: bytes}, are allocated."""
        youngest = max(held)
        if youngest < FIRST_MADE_UP_ADDRESS:  # in one of the recorded steps
            return dataclasses.replace(Peak.of(self.events, self.step_ends, self.recorded), reserved_bytes=reserved)
        before = {}  # address → its last allocation, in their order
        for row in self.events.rows[: self.recorded]:
            if row[7] == ALLOC:
                before.pop(row[0], None)
                before[row[0]] = row
        ends = list(itertools.accumulate(sum(len(stretch.sizes) for stretch in step) for step in self.steps))
        step_of = lambda address: bisect.bisect_right(ends, address - FIRST_MADE_UP_ADDRESS)

        def row_of(address):
            if address < FIRST_MADE_UP_ADDRESS:
                return before[address]
            i = step_of(address)
            return _allocation(self.steps[i], address - FIRST_MADE_UP_ADDRESS - (ends[i - 1] if i else 0))

        return Peak(
            allocated, reserved, len(self.step_ends) + step_of(youngest) + 1, row_of(youngest), [(held[address], row_of(address)) for address in [*(one for one in before if one in held), *sorted(one for one in held if one not in before)]]
        )


def _events_of(stretch, live, addresses):
    places = [place for action, _, place in stretch.pattern if action in (FREE_REQUESTED, FREE_COMPLETED)]
    deepest = max((nth for where, nth in places if where == "earlier"), default=-1)
    blocks = {"own": [], "earlier": list(itertools.islice(reversed(live), deepest + 1))}
    packed, sizes = bytearray(), iter(stretch.sizes)
    for (action, stream, what), (operation, module, line, *flags) in zip(stretch.pattern, stretch.about):
        address = size = 0
        if action == ALLOC:
            address, size = next(addresses), next(sizes)
            blocks["own"].append(address)
        elif what is not None:
            where, nth = what
            address = blocks[where][nth] if nth < len(blocks[where]) else None
            if address not in live:
                raise NotKnown("a step that was not trained would free what is not there")
        follow(live, address, action)
        packed += LAYOUT.pack(address, size, 0, stream, operation, module, line, action, *flags)
    return packed


def _allocation(step, nth):
    """The event of a step's nth allocation."""
    for stretch in step:
        if nth < len(stretch.sizes):
            made = [i for i, (action, *_) in enumerate(stretch.pattern) if action == ALLOC]
            (action, stream, _), (operation, module, line, *flags) = stretch.pattern[made[nth]], stretch.about[made[nth]]
            return (0, stretch.sizes[nth], 0, stream, operation, module, line, action, *flags)
        nth -= len(stretch.sizes)
    raise IndexError(nth)


def replay(epoch, run_dir):
    """(`Peak` of the epoch, its (allocated, reserved) with addresses downwards), or what the replay said instead."""
    path = os.path.join(run_dir, "epoch.bin")
    epoch.write(path)
    try:
        upwards, downwards = (replays.replay(path, run_dir, way) for way in (replays.UPWARDS, replays.DOWNWARDS))
        if not (upwards[:1].isdigit() and downwards[:1].isdigit()):
            return f"the replay of the epoch ended: {upwards or 'nothing was said'}"
        allocated, reserved = map(int, upwards.split())
        held = dict(map(int, line.split()) for line in replays.replay(path, run_dir, replays.UPWARDS, f"at:{allocated}").splitlines())
    finally:
        os.unlink(path)
    return epoch.peak(allocated, reserved, held), tuple(map(int, downwards.split()))
