"""What a model draws by chance on the host, and decides by, is as it takes the most memory: no layer is left out (torch.rand), and spans of time steps that are masked lie apart (numpy)."""

import contextlib

import numpy

_ALMOST_ONE = 1 - 2**-20  # chances are rounded up


@contextlib.contextmanager
def as_the_most():
    """What is drawn of numpy within it is that; a set of the functions that were asked."""
    asked, before = set(), (numpy.random.rand, numpy.random.choice)

    def rand(*sizes):
        asked.add("numpy.random.rand")
        return numpy.full(sizes, _ALMOST_ONE) if sizes else _ALMOST_ONE

    def choice(a, size=None, replace=True, p=None):
        if replace or p is not None or not isinstance(size, int) or isinstance(a, int):
            return before[1](a, size, replace, p)
        asked.add("numpy.random.choice")
        return a[:: max(1, len(a) // max(1, size))][:size]

    numpy.random.rand, numpy.random.choice = rand, choice
    try:
        yield asked
    finally:
        numpy.random.rand, numpy.random.choice = before
