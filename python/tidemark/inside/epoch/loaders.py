"""Draws all batches of a DataLoader on the host, and hands out some: the first ones, those that no other is larger than, and others of
every size between.  They come in the order of the epoch, and over again until the program wants no more.
"""

import copy

from .. import losses, shapes

FIRST = 16  # of an epoch, handed out as they come: with them the optimizer makes its states
MOST = 64  # batches that are held on the host at a time
MOST_BYTES = 2**30  # of the host's memory that they take, if more than the fewest are held


class Drawn:
    """The batches of one DataLoader: the sizes of all, and some of themselves."""

    def __init__(self):
        self.shapes = []  # of each batch: ((input, shape), …)
        self.sizes = []  # of each batch: {dimension of an input: size, what is counted in one: count}
        self.elements = []  # of each batch, of all inputs
        self.kept = {}  # position in the epoch → batch
        self.held_bytes = 0
        self.ended = False  # the DataLoader had no more
        self.handed_out = []  # positions, in order
        self.steps = 0  # optimizer steps whose last batch came from here
        self.steps_after = 0  # … since all kept batches were handed out

    def draw(self, iterator, most):
        while most is None or len(self.sizes) < most:
            try:
                batch = next(iterator)
            except StopIteration:
                self.ended = True
                return
            self.add(batch)

    def add(self, batch):
        found, sizes = _measured(batch) or ((), {})
        self.shapes.append(found)
        self.sizes.append(sizes)
        self.elements.append(sum(shapes.elements(shape) for _, shape in found))
        position = len(self.sizes) - 1
        if position < MOST or not any(self.sizes[other] == self.sizes[position] for other in self.kept):
            self.kept[position] = batch
            self.held_bytes += shapes.bytes_in(batch)
        while len(self.kept) > MOST or (self.held_bytes > MOST_BYTES and len(self.kept) > 2 * FIRST):
            self.held_bytes -= shapes.bytes_in(self.kept.pop(self._least_missed()))

    def _least_missed(self):
        """Of those that are not first: one that is as large as another in every dimension if there is one, and lies nearest to its neighbours in size."""
        by_size = sorted(self.kept, key=lambda position: (self.elements[position], -position))
        gaps = {one: self.elements[above] - self.elements[below] for below, one, above in zip(by_size, by_size[1:], by_size[2:])}
        candidates = sorted((position for position in gaps if position >= FIRST), key=lambda position: (gaps[position], -position))
        smaller = (position for position in candidates if any(is_within(self.sizes[position], self.sizes[other]) for other in self.kept if other != position))
        return next(smaller, candidates[0])

    def largest_kept(self):
        """Whether no batch is larger than all kept ones in some dimension."""
        return all(any(is_within(sizes, self.sizes[other]) for other in self.kept) for sizes in self.sizes)

    def hand_out(self):
        positions = sorted(self.kept)
        for i in range(len(self.sizes)):
            position = positions[(i + i // len(positions)) % len(positions)]  # grouped otherwise every time
            self.handed_out.append(position)
            yield _copy_of(self.kept[position])

    def step_ended(self):
        self.steps += 1
        self.steps_after += len(self.handed_out) >= len(self.kept)

    def batches_per_step(self):
        """A DataLoader may be a few batches ahead of the training."""
        return max(1, len(self.handed_out) // self.steps) if self.steps else 1


class _HandedOut:
    """In the place of a DataLoader's iterator."""

    def __init__(self, drawn, handed_out):
        self.drawn, self.handed_out = drawn, handed_out

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.drawn.sizes)

    def __next__(self):
        batch = next(self.handed_out)
        loaders.last = self.drawn
        return batch


class _Loaders:
    def __init__(self):
        self.drawn = []  # of every DataLoader, in the order in which they were first used
        self.last = None  # the one that handed out a batch last
        self.drawing = False  # a DataLoader may use another one

    def step_ended(self):
        if self.last is not None:
            self.last.step_ended()

    def finished(self):
        """Whether the training has had every batch that is handed out; a DataLoader may be a step ahead of it."""
        drawn = self.of_training()
        return drawn.steps_after >= (2 if drawn is self.last else 1)

    def of_training(self):
        """The DataLoader that most steps took their batches from; None if none did."""
        trained = [drawn for drawn in self.drawn if drawn.steps]
        return max(trained, key=lambda drawn: drawn.steps) if trained else None


loaders = _Loaders()


def watch(most):
    """`most`: how many batches are drawn of a DataLoader, or None for all that it has."""
    from torch.utils.data import DataLoader

    real_iter = DataLoader.__iter__

    def __iter__(self):
        if loaders.drawing:
            return real_iter(self)
        drawn = Drawn()
        loaders.drawing = True
        try:
            drawn.draw(real_iter(self), most)
        finally:
            loaders.drawing = False
        loaders.drawn.append(drawn)
        return _HandedOut(drawn, drawn.hand_out())

    DataLoader.__iter__ = __iter__


def _copy_of(batch):
    """Programs take things out of a batch, and write into it."""
    try:
        return copy.deepcopy(batch)
    except Exception as error:
        losses.note("a batch that is handed out again is as the training left it", losses.described(error))
        return batch


@losses.guarded("batches of a kind that is not known count as empty")
def _measured(batch):
    """Its shapes, and all sizes of it by name."""
    found = tuple(shapes.drawn_in("input", batch))
    axes = [(f"{name} axis {axis}", size) for name, shape in found for axis, size in enumerate(shape)]
    return found, _told_apart(axes + shapes.counts_in("input", batch))


def _told_apart(named):
    """Equal names by their place."""
    sizes, count = {}, {}
    for name, size in named:
        place = count[name] = count.get(name, -1) + 1
        sizes[f"{name} {place}"] = size
    return sizes


def is_within(sizes, other):
    return all(size <= other.get(key, 0) for key, size in sizes.items())
