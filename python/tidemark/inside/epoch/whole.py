"""The peak of a whole epoch, of which some batches were trained on.

The steps that were not run are made of those that were (made.py).  The epoch, in its order, is then what PyTorch's own allocator is asked
(virtual_gpu/replay).
"""

import collections
import dataclasses

from .. import door, phases, shapes
from ..events import OUT_OF_MEMORY
from . import made, replayed, stretches
from .loaders import loaders

RECORDED = 2  # steps after which every step asks alike: the optimizer has its states
MOST_REQUESTS = 10_000_000  # 48 bytes each, in a file and in the replay's memory


@dataclasses.dataclass(frozen=True)
class Answer:
    data: dict = None  # what was drawn, for the report
    peak: object = None  # the epoch's `Peak`, if it is known
    others: tuple = ()  # what (allocated, reserved) could have been as well


def answer(session, events, ends):
    drawn = loaders.of_training()
    if drawn is None:
        return Answer()
    data = {"batches": len(drawn.sizes), "trained_batches": len(set(drawn.handed_out)), "batches_per_step": drawn.batches_per_step(), "largest_trained": drawn.largest_kept(), "inputs": _distribution(drawn.shapes)}
    whole = {"whole": True} if drawn.ended else {"whole": False, "why": f"only {len(drawn.sizes)} batches were drawn"}
    if len(drawn.kept) == len(drawn.sizes):  # all of them were trained on
        return Answer({**data, **whole})
    try:
        return Answer({**data, **whole}, *_replayed(session, _epochs(drawn, events, ends)))
    except stretches.NotKnown as why:
        return Answer({**data, "whole": False, "why": str(why)})


def _replayed(session, epochs):
    """The higher peak of the epochs, and all that the peaks could be."""
    if door.replay_command() is None:
        raise stretches.NotKnown(door.read_without(door.library().folder, "replay")[0])
    answers = [replayed.replay(epoch, session.run_dir) for epoch in epochs]
    if said := [found for found in answers if isinstance(found, str)]:
        raise stretches.NotKnown(said[0])
    peaks = [peak for peak, _ in answers]
    return max(peaks, key=lambda peak: (peak.reserved_bytes, peak.allocated_bytes)), tuple([(peak.allocated_bytes, peak.reserved_bytes) for peak in peaks] + [downwards for _, downwards in answers])


def _epochs(drawn, events, ends):
    """[`replayed.Epoch`]: one if every stretch follows from those that were trained, else one for each side."""
    if events.truncated or any(row[7] == OUT_OF_MEMORY for row in events.rows):
        raise stretches.NotKnown("the card was full")
    if len(ends) <= RECORDED:
        raise stretches.NotKnown(f"{len(ends)} steps were trained, and their like takes {RECORDED + 1}")
    count = drawn.batches_per_step()
    if drawn.handed_out[: RECORDED * count] != list(range(RECORDED * count)):
        raise stretches.NotKnown("the first steps are not the epoch's first")
    trained = _Steps(drawn, drawn.handed_out, count)
    cuts = _cuts(events, ends, count)
    places, all_stretches = len(cuts[-1]), iter(stretches.read(events.rows, [cut for step in cuts for cut in step]))
    stretches_of = [[next(all_stretches) for _ in step] for step in cuts]
    known = made.Made([made.Trained(*asked, stretch) for step in range(RECORDED, min(len(ends), len(trained))) for asked, stretch in zip(trained.asked(step, places), stretches_of[step])])
    whole = _Steps(drawn, range(len(drawn.sizes)), count)
    both = [[known.of(*asked) for asked in whole.asked(step, places)] for step in range(RECORDED, len(whole))]
    sides = [[[stretch[side] for stretch in step] for step in both] for side in (made.SMALLER, made.LARGER)]
    if sum(len(stretch.pattern) for step in sides[1] for stretch in step) > MOST_REQUESTS:
        raise stretches.NotKnown(f"the epoch has more than {MOST_REQUESTS:,} requests")
    return [replayed.Epoch(events, ends[RECORDED - 1], ends[:RECORDED], steps) for steps in (sides[:1] if sides[0] == sides[1] else sides)]


def _cuts(events, ends, count):
    """Where the stretches of each step end: with each backward, and with the step; or with the step alone, where backwards are not one for each batch."""
    cuts, begin = [], 0
    for end in ends:
        backward = [row[8] == phases.BACKWARD for row in events.rows[begin:end]]
        cuts.append([begin + i + 1 for i in range(len(backward) - 1) if backward[i] and not backward[i + 1]] + [end])
        begin = end
    regular = {len(step) - 1 for step in cuts[RECORDED:]} == {count}
    return [[end] for end in ends[:RECORDED]] + cuts[RECORDED:] if regular else [[end] for end in ends]


class _Steps:
    """The batches of an order, step by step."""

    def __init__(self, drawn, positions, count):
        self.drawn, self.positions, self.count = drawn, positions, count

    def __len__(self):
        return len(self.positions) // self.count

    def _positions(self, step):
        return self.positions[step * self.count : (step + 1) * self.count]

    def asked(self, step, places):
        """Of each stretch of a step: the step's number, the stretch's place, sizes of its batch, and of all batches of the step."""
        sizes = self._sizes(step)
        return [(step + 1, place, self._own(step, place, places), sizes) for place in range(places)]

    def _sizes(self, step):
        return {f"{i} {key}": size for i, position in enumerate(self._positions(step)) for key, size in self.drawn.sizes[position].items()}

    def _own(self, step, place, places):
        """Sizes of the batch that the stretch at a place works on; a step's last stretch, the optimizer's, works on none."""
        batches = self._positions(step) if places == 1 else self._positions(step)[place : place + 1]
        own = collections.Counter({"elements": sum(self.drawn.elements[position] for position in batches)})
        for position in batches:
            own.update(self.drawn.sizes[position])
        return own


def _distribution(batches):
    """One row for each input whose shape is not the same in all batches."""
    found = {}
    for batch in batches:
        for name, shape in batch:
            found.setdefault(name, []).append(shape)
    rows = []
    for name, all_shapes in found.items():
        ordered = shapes.in_order(all_shapes)
        if len(different := set(all_shapes)) > 1:
            at = lambda share, ordered=ordered: list(ordered[int(share * (len(ordered) - 1))])
            rows.append({"name": name, "shapes": len(different), "smallest": at(0), "median": at(0.5), "p90": at(0.9), "largest": at(1)})
    return rows
