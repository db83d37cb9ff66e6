"""Shapes of what a model is called with and of what a DataLoader hands out; nothing of it is kept."""

import sys
from collections.abc import Mapping


def tensors_in(name, value, depth=0):
    """(name, shape) of every tensor in `value`, which is nested three deep at most."""
    import torch

    if type(value) is torch.Tensor:   # a subclass may compute its shape
        yield name, tuple(value.shape)
    elif depth < 3:
        for key, item in items_of(name, value):
            yield from tensors_in(key, item, depth + 1)


def items_of(name, value):
    """What a mapping or a list holds; the members of a list share a name."""
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    return [(name, item) for item in value] if isinstance(value, (list, tuple)) else []


def drawn_in(name, value, depth=0):
    """The same of a batch as it is drawn, where a text counts by its letters and an image by its sides."""
    if isinstance(value, (str, bytes)):
        yield name, (len(value),)
    elif isinstance(size := getattr(value, "shape", getattr(value, "size", None)), (tuple, list)):
        yield name, tuple(int(side) for side in size)
    elif depth < 4:
        for key, item in items_of(name, value):
            yield from drawn_in(key, item, depth + 1)


def counts_in(name, value, depth=0):
    """(name, count) of what losses and masks go by in tensors of integers: entries that are not -100 (torch.nn.functional.cross_entropy ignores those), that are not 0."""
    if type(value) is getattr(sys.modules.get("torch"), "Tensor", None):
        if not value.is_floating_point() and not value.is_complex() and not value.is_cuda:
            yield f"{name} not -100", int((value != -100).sum())
            yield f"{name} not 0", int(value.count_nonzero())
    elif depth < 3:
        for key, item in items_of(name, value):
            yield from counts_in(key, item, depth + 1)


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def in_order(shapes):
    """By their number of elements."""
    return sorted(shapes, key=lambda shape: (elements(shape), shape))
