"""Stretches that ask for much the same, as one sequence of requests of which each stretch is a part.

What two stretches share stands in it once; where they differ, the requests of both stand one after the other.  A block may have several ends, one for each moment
at which some stretch frees it.
"""

import collections
import difflib
import typing

from ..events import ALLOC
from .stretches import Stretch


class Request(typing.NamedTuple):
    action: int
    stream: int
    what: object  # of an allocation, its operation; else ("own", number of the request that allocated) or ("earlier", nth)


class Merged:
    def __init__(self, all_stretches):
        self.requests, self.about, self.kinds = [], [], {}  # by their numbers, as they were met; of allocations, what they are known by
        self.order = []  # numbers, in the order of the whole
        self.numbers_of = {}  # pattern → its requests' numbers
        first_of = {one.pattern: one for one in reversed(all_stretches)}
        for pattern, _ in collections.Counter(one.pattern for one in all_stretches).most_common():
            self._add(first_of[pattern])

    def bytes_by_number(self, stretch):
        """{number of an allocation: bytes}."""
        return dict(zip((number for number in self.numbers_of[stretch.pattern] if number in self.kinds), stretch.sizes))

    def stretch(self, numbers, bytes_of):
        """The one that asks for this."""
        chosen, places = [number for number in self.order if number in numbers], {}
        for number in chosen:
            if number in self.kinds:
                places[number] = len(places)
        pattern = [request if not own(request) else request._replace(what=("own", places[request.what[1]])) for request in map(self.requests.__getitem__, chosen)]
        return Stretch(tuple(map(tuple, pattern)), tuple(bytes_of[number] for number in places), tuple(self.about[number] for number in chosen))

    def _add(self, stretch):
        blocks = self._blocks(stretch)  # numbers of its allocations
        standing, asked = set(self.order), iter(blocks)
        requests = [(Request(*row), next(asked)) if row[0] == ALLOC else (_of_block(Request(*row), blocks), None) for row in stretch.pattern]
        order, numbers, begin, begin_standing = [], [], 0, 0
        for end in [i for i, (_, number) in enumerate(requests) if number in standing] + [len(requests)]:
            end_standing = self.order.index(requests[end][1], begin_standing) if end < len(requests) else len(self.order)
            between = self._merge(self.order[begin_standing:end_standing], list(zip(requests[begin:end], stretch.about[begin:end])), numbers)
            shared = [requests[end][1]] if end < len(requests) else []
            order += between + shared
            numbers += shared
            begin, begin_standing = end + 1, end_standing + 1
        self.order, self.numbers_of[stretch.pattern] = order, tuple(numbers)

    def _blocks(self, stretch):
        """Numbers of a stretch's allocations: of those that stand already, or new ones."""
        standing, kinds = [number for number in self.order if number in self.kinds], stretch.kinds
        found = [None] * len(kinds)
        for block in difflib.SequenceMatcher(None, [self.kinds[number] for number in standing], kinds, autojunk=False).get_matching_blocks():
            found[block.b : block.b + block.size] = standing[block.a : block.a + block.size]
        for i, (row, about) in enumerate((row, about) for row, about in zip(stretch.pattern, stretch.about) if row[0] == ALLOC):
            if found[i] is None:
                found[i] = self._new(Request(*row), about)
                self.kinds[found[i]] = kinds[i]
        return found

    def _new(self, request, about):
        self.requests.append(request)
        self.about.append(about)
        return len(self.requests) - 1

    def _merge(self, standing, added, numbers):
        """Numbers of requests that stand and of those that are added, between two allocations that both have; the numbers of the added go to `numbers`."""
        tokens = [number if number in self.kinds else self.requests[number] for number in standing]
        wanted = [request if number is None else number for (request, number), _ in added]
        order = []
        for kind, a, end_a, b, end_b in difflib.SequenceMatcher(None, tokens, wanted, autojunk=False).get_opcodes():
            order += standing[a:end_a]
            found = standing[a:end_a] if kind == "equal" else [self._new(request, about) if number is None else number for (request, number), about in added[b:end_b]]
            order += found if kind != "equal" else []
            numbers += found
        return order


def own(request):
    return isinstance(request.what, tuple) and request.what[0] == "own"


def _of_block(request, blocks):
    return request._replace(what=("own", blocks[request.what[1]])) if own(request) else request
