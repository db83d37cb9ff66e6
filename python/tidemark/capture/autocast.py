"""What a model does under autocast.  Most do as without it; some do something more, as a cast where two dtypes are not one (transformers 5.17.0: modeling_t5.py, T5DenseActDense), and have bodies of their own for that:
under autocast in another dtype than that of the weights ("other"), or in that of the weights ("own")."""

from typing import NamedTuple

import torch

from .dtypes import SideBySide, names_of
from .terms import Typed

KINDS = ("own", "other")


class Dtypes(NamedTuple):
    """In which a model is captured."""

    weights: torch.dtype = torch.bfloat16
    autocast: object = None  # None: without it
    images: object = None  # None: as the weights


IN_FLOAT32 = Dtypes(torch.float32)
# The dtypes of a capture, and those that it is compared with, so that what follows the weights', or autocast's, is seen: the first has other weights.
OF = {
    "own": (Dtypes(torch.bfloat16, torch.bfloat16), Dtypes(torch.float16, torch.float16)),
    "other": (Dtypes(torch.float32, torch.bfloat16), Dtypes(torch.bfloat16, torch.float16), Dtypes(torch.float32, torch.float16)),
}


def minds(without, under):
    """Whether a model does something under autocast that it does not do without it, by a capture of each."""
    return any(names_of(one) != names_of(other) for one, other in SideBySide([without, under]).frames())


def as_without(without, under):
    """What the program says once, of captures of the same configurations: the tree of modules, and of what both do the dtypes."""
    for one, other in zip(without, under):
        other.tree = one.tree
    type_as(without[0], under[0])


def type_as(without, under):
    """Writes into captures under autocast, the first of which alone is printed, what is said of the dtypes of results in one without: of what both do the program says the same."""
    walk = SideBySide([without, under])
    for frames in walk.frames():
        for ops, _ in walk.ops(frames):
            for one, other in zip(*(op.results for op in ops)):
                if isinstance(one, Typed) and isinstance(other, Typed):
                    under.seen[other.ref.value].dtype = without.seen[one.ref.value].dtype
    for (_, one), (_, other) in zip(without.inputs, under.inputs):
        under.seen[other.value].dtype = without.seen[one.value].dtype
