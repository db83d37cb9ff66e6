"""Stretches that were not trained, made of those that were.

What a stretch asks for follows from its batch's sizes, request by request: whether it is asked for (presence.py), and how many bytes (sizes.py).  Where the
trained ones do not tell (scratch memory of sorts and convolutions), the stretch is made twice: as it would be if it asked for as little, and for as much, as they
allow.
"""

import dataclasses
import functools

from ..events import ALLOC, FREE_COMPLETED, FREE_REQUESTED
from . import presence
from .loaders import is_within
from .merged import Merged, own
from .sizes import Solved
from .stretches import NotKnown

SMALLER, LARGER = range(2)


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    number: int  # of its step
    place: int  # which stretch of the step it is
    own: dict  # sizes of its batch
    sizes: dict  # of all batches of its step
    stretch: object


class Made:
    def __init__(self, trained):
        at_place = {}
        for one in trained:
            at_place.setdefault(one.place, []).append(one)
        self.places = {place: _Place(found) for place, found in at_place.items()}

    def of(self, number, place, own_sizes, sizes):
        """The stretch at a place of a step, as small and as large as it may be."""
        return self.places[place].of(number, own_sizes, sizes)


class _Place:
    """All stretches at one place of the steps."""

    def __init__(self, trained):
        self.trained = trained
        self.merged = Merged([one.stretch for one in trained])
        self.numbers = [frozenset(self.merged.numbers_of[one.stretch.pattern]) for one in trained]
        self.bytes_by_number = [self.merged.bytes_by_number(one.stretch) for one in trained]
        self.solved = Solved([(one.sizes, asked) for one, asked in zip(trained, self.bytes_by_number)])
        self.rules = self._rules()
        self.made = {}

    def _rules(self):
        """[(requests that the same stretches have, the rule that tells which)]."""
        alike = {}
        for number in self.merged.order:
            alike.setdefault(tuple(number in numbers for numbers in self.numbers), []).append(number)
        points = [(one.number, one.own) for one in self.trained]
        return [(frozenset(numbers), presence.rule(points, present)) for present, numbers in alike.items()]

    def of(self, number, own_sizes, sizes):
        twin = next((i for i, one in enumerate(self.trained) if one.sizes == sizes), None)
        asked, open_ = set(), set()
        for numbers, rule in self.rules:
            is_asked = rule(number, own_sizes)
            if is_asked is None and twin is not None:
                is_asked = numbers <= self.numbers[twin]
            if is_asked is None:
                open_ |= numbers
            elif is_asked:
                asked |= numbers
        key = (frozenset(asked), frozenset(open_), tuple(sizes.items()))
        if key not in self.made:
            self.made[key] = tuple(self._make(asked, open_, sizes, twin, side) for side in (SMALLER, LARGER))
        return self.made[key]

    def _make(self, asked, open_, sizes, twin, side):
        chosen = self._chosen(asked, open_, side)
        return self.merged.stretch(chosen, self._bytes(chosen, sizes, twin, side))

    def _chosen(self, asked, open_, side):
        """Numbers of what is asked for at least, or at most: each block of it until its first, or until its last end."""
        requests = self.merged.requests
        reaches_out = any(requests[number].action != ALLOC and not own(requests[number]) for number in open_)
        if reaches_out or not open_.isdisjoint(self._left):
            raise NotKnown("steps with batches of the same shapes asked the allocator for different things")
        blocks = {number for number in (asked if side == SMALLER else asked | open_) if number in self.merged.kinds}
        chosen = blocks | {number for number in asked if requests[number].action != ALLOC and not own(requests[number])}
        for block in blocks:
            for action in (FREE_REQUESTED, FREE_COMPLETED):
                ends = self._ends.get((block, action), [])
                possible = [end for end in ends if end in asked] or [end for end in ends if end in open_] or ([] if block in self._left else ends)
                chosen.update(possible[:1] if side == SMALLER else possible[-1:])
        return chosen

    @functools.cached_property
    def _ends(self):
        """{(number of an allocation, action): the requests to free it}, in their order."""
        ends = {}
        for number in self.merged.order:
            request = self.merged.requests[number]
            if own(request):
                ends.setdefault((request.what[1], request.action), []).append(number)
        return ends

    @functools.cached_property
    def _left(self):
        """Allocations that some stretch does not free."""
        freed_in = [{self.merged.requests[number].what[1] for number in numbers if own(self.merged.requests[number])} for numbers in self.numbers]
        return {number for numbers, freed in zip(self.numbers, freed_in) for number in numbers if number in self.merged.kinds and number not in freed}

    def _bytes(self, chosen, sizes, twin, side):
        blocks = [number for number in chosen if number in self.merged.kinds]
        found = dict(zip(blocks, self.solved.of(sizes, blocks)))
        exact = self.bytes_by_number[twin] if twin is not None else {}
        return {number: exact.get(number, self._bound(number, sizes, side) if size is None else size) for number, size in found.items()}

    def _bound(self, number, sizes, side):
        """What the trained steps say that a step asks for at least, or at most, if it asks for no less than one that is smaller in every size."""
        having = [(one.sizes, asked[number]) for one, asked in zip(self.trained, self.bytes_by_number) if number in asked]
        if side == SMALLER:
            below = [size for other, size in having if is_within(other, sizes)]
            return max(below) if below else min(size for _, size in having)
        above = [size for other, size in having if is_within(sizes, other)]
        return min(above) if above else max(size for _, size in having)
