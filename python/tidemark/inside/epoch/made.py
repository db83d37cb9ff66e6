"""Stretches that were not trained, made of those that were.

A stretch asks as one of its size did, for sizes that follow from its batch's.  Where larger batches ask for something that smaller ones do not,
or a size does not follow (scratch memory of sorts and convolutions), the stretch is made twice: as it would be if it asked for as little, and for
as much, as the trained ones around it allow.
"""

import dataclasses
import functools
import itertools

from .loaders import is_within
from .sizes import Solved

SMALLER, LARGER = range(2)


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    number: int       # of its step
    place: int        # which stretch of the step it is
    own: dict         # sizes of its batch
    sizes: dict       # of all batches of its step
    stretch: object

    @functools.cached_property
    def bytes_by_kind(self):
        """{kind of allocation: bytes}."""
        return dict(zip(self.stretch.kinds, self.stretch.sizes))


class NotKnown(Exception):
    """Why the epoch is not put together."""


class Made:
    def __init__(self, trained):
        self.period, self.by = _order(trained)
        self.classes = {}   # (place, number % period) → [Trained], the smallest first
        for one in sorted(trained, key=lambda one: self._size(one.own)):
            self.classes.setdefault((one.place, one.number % self.period), []).append(one)
        self.at_place = {}  # place → [Trained]
        for one in trained:
            self.at_place.setdefault(one.place, []).append(one)
        self.solved = {place: Solved([(one.sizes, one.bytes_by_kind) for one in group]) for place, group in self.at_place.items()}
        self.made = {}

    def _size(self, own):
        return own.get(self.by, 0)

    def of(self, number, place, own, sizes, side):
        """The stretch at a place of a step."""
        key = (place, number % self.period, side, tuple(sizes.items()))
        if key not in self.made:
            self.made[key] = self._make(self.classes.get(key[:2]), place, own, sizes, side)
        return self.made[key]

    def _make(self, alike, place, own, sizes, side):
        if alike is None:
            raise NotKnown("not every kind of step was trained")
        for one in alike:
            if one.sizes == sizes:
                return one.stretch
        size = self._size(own)
        smaller, larger = [one for one in alike if self._size(one.own) <= size][-1:], [one for one in alike if self._size(one.own) >= size][:1]
        like = ((smaller, larger)[side] or smaller or larger)[0].stretch
        found = self.solved[place].of(sizes, like.kinds)
        return dataclasses.replace(like, sizes=tuple(self._bound(kind, place, sizes, side) if size is None else size for size, kind in zip(found, like.kinds)))

    def _bound(self, kind, place, sizes, side):
        """What the trained steps say that a step asks for at least, or at most, if it asks for no less than one that is smaller in every size."""
        having = [one for one in self.at_place[place] if kind in one.bytes_by_kind]
        if side == SMALLER:
            below = [one.bytes_by_kind[kind] for one in having if is_within(one.sizes, sizes)]
            return max(below) if below else min(one.bytes_by_kind[kind] for one in having)
        above = [one.bytes_by_kind[kind] for one in having if is_within(sizes, one.sizes)]
        return min(above) if above else max(one.bytes_by_kind[kind] for one in having)


def _order(trained):
    """(After how many steps they ask for the same again, the size by which smaller ones are told from larger ones that ask for something else).
    What is logged every tenth step asks for more in it; a loss in chunks asks by the number of labels."""
    steps = len({one.number for one in trained})
    names = dict.fromkeys(name for one in trained for name in one.own)
    for period in range(1, max(2, steps // 2)):
        for name in names:
            classes = {}
            for one in sorted(trained, key=lambda one: one.own.get(name, 0)):
                classes.setdefault((one.place, one.number % period), []).append(one.stretch.pattern)
            if all(_in_spans(patterns) for patterns in classes.values()):
                return period, name
    raise NotKnown("steps with batches of the same shapes asked the allocator for different things")


def _in_spans(patterns):
    """Whether no pattern comes again after another one."""
    return len(list(itertools.groupby(patterns))) == len(set(patterns))
