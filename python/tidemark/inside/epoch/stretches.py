"""Stretches of a training as sequences of requests to the allocator, so that two can be compared, and one can follow another.

A request to free names its block by place: the nth allocation of the same stretch, or the nth youngest of the blocks that were there before.
"""

import dataclasses
import functools

from ..events import ALLOC, EMPTY_CACHE, FREE_COMPLETED, FREE_REQUESTED

ONE_NUMBER_BYTES = 16


class NotKnown(Exception):
    """Why the epoch is not put together."""


@dataclasses.dataclass(frozen=True)
class Stretch:
    pattern: tuple  # (action, stream, the operation that allocates, or the block by its place) …
    sizes: tuple  # bytes of its allocations, as they were asked for
    about: tuple = dataclasses.field(compare=False)  # of each request, what a report says of it: operation, module, line, phase, …

    @functools.cached_property
    def kinds(self):
        """Of each allocation, who makes it and who frees it, if that is the same one also how many it makes in between, and whether it is of one number."""
        makers, freed = [], {}
        for (action, _, what), who in zip(self.pattern, self.about):
            if action == ALLOC:
                makers.append(who)
            elif action == FREE_REQUESTED and what[0] == "own":
                freed[what[1]] = (who, len(makers) - what[1])
        ends = [freed.get(i, (None, 0)) for i in range(len(makers))]
        return [(maker, who, between if who == maker else None, size <= ONE_NUMBER_BYTES) for maker, (who, between), size in zip(makers, ends, self.sizes)]


def read(rows, ends):
    """The `Stretch`es of events, the first from the program's start; `ends`: the number of events when each had ended."""
    stretches, live, begin = [], {}, 0
    for end in ends:
        places = {address: ("earlier", i) for i, address in enumerate(reversed(live))}
        pattern, sizes, about = [], [], []
        for row in rows[begin:end]:
            address, action, stream = row[0], row[7], row[3]
            if action == ALLOC:
                places[address] = ("own", len(sizes))
                pattern.append((action, stream, row[4]))
                sizes.append(row[1])
            elif action in (FREE_REQUESTED, FREE_COMPLETED) and address in live:
                pattern.append((action, stream, places[address]))
            elif action == EMPTY_CACHE:
                pattern.append((action, stream, None))
            if len(about) < len(pattern):
                about.append((*row[4:7], *row[8:11]))
            follow(live, address, action)
        stretches.append(Stretch(tuple(pattern), tuple(sizes), tuple(about)))
        begin = end
    return stretches


def follow(live, address, action):
    """`live`: the blocks that are not free yet, the youngest last."""
    if action == ALLOC:
        live[address] = None
    elif action == FREE_COMPLETED:
        live.pop(address, None)
