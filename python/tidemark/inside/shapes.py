"""Shapes of what a model is called with and of what a DataLoader hands out; nothing of it is kept."""

import sys
from collections.abc import Mapping


def leaves(name, value, depth=0):
    """(name, what is no mapping or list) of what `value` holds, nested four deep at most; the members of a list share a name."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(name, item) for item in value]
    else:
        yield name, value
        return
    for key, item in items if depth < 4 else ():
        yield from leaves(key, item, depth + 1)


def tensors_in(name, value):
    """(name, shape) of every tensor in `value`."""
    return [(key, tuple(leaf.shape)) for key, leaf in leaves(name, value) if _is_tensor(leaf)]


def drawn_in(name, value):
    """The same of a batch as it is drawn, where a text counts by its letters and an image by its sides."""
    found = []
    for key, leaf in leaves(name, value):
        size = (len(leaf),) if isinstance(leaf, (str, bytes)) else getattr(leaf, "shape", getattr(leaf, "size", None))
        if isinstance(size, (tuple, list)):
            found.append((key, tuple(int(side) for side in size)))
    return found


MOST_ROWS = 4   # of a table, that count one by one


def counts_in(name, value):
    """(name, count) of what losses, masks and attention go by in tensors of integers: entries that are not -100 (torch.nn.functional.cross_entropy ignores those),
    that are not 0; of tables of two or three columns, as of the sides of images (`image_grid_thw`, `image_sizes`), what each row multiplies to."""
    found = []
    for key, leaf in leaves(name, value):
        if _is_tensor(leaf) and not (leaf.is_floating_point() or leaf.is_complex() or leaf.is_cuda):
            found += [(f"{key} not -100", int((leaf != -100).sum())), (f"{key} not 0", int(leaf.count_nonzero()))]
            if leaf.ndim == 2 and leaf.shape[1] in (2, 3) and len(leaf) <= MOST_ROWS:
                found += [(f"{key} row {i}", int(area)) for i, area in enumerate(leaf.prod(1))]
    return found


def bytes_in(value):
    """Of the tensors and arrays in `value`."""
    return sum(size for _, leaf in leaves("", value) if isinstance(size := getattr(leaf, "nbytes", None), int))


def _is_tensor(value):
    return type(value) is getattr(sys.modules.get("torch"), "Tensor", None)   # a subclass may compute its shape


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def in_order(shapes):
    """By their number of elements."""
    return sorted(shapes, key=lambda shape: (elements(shape), shape))
