"""Shapes of what a model is called with and of what a DataLoader hands out; nothing of it is kept."""

import sys
from collections.abc import Mapping


def each(name, value, seen, depth=0):
    """seen(name, leaf) of what `value` holds that is no mapping or list, nested four deep at most; the members of a list share a name.  Makes no list, tuple or
    dictionary (collector.py)."""
    if isinstance(value, Mapping):
        for key in value if depth < 4 else ():
            each(str(key), value[key], seen, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value if depth < 4 else ():
            each(name, item, seen, depth + 1)
    else:
        seen(name, value)


def leaves(name, value):
    """[(name, leaf)] of the same."""
    found = []
    each(name, value, lambda key, leaf: found.append((key, leaf)))
    return found


def drawn_in(name, value):
    """The same of a batch as it is drawn, where a text counts by its letters and an image by its sides."""
    found = []
    for key, leaf in leaves(name, value):
        size = (len(leaf),) if isinstance(leaf, (str, bytes)) else getattr(leaf, "shape", getattr(leaf, "size", None))
        if isinstance(size, (tuple, list)):
            found.append((key, tuple(int(side) for side in size)))
    return found


MOST_ROWS = 4  # of a table, that count one by one


def counts_in(name, value):
    """(name, count) of what losses, masks and attention go by in tensors of integers: entries that are not -100 (torch.nn.functional.cross_entropy ignores those),
    that are not 0; of tables of two or three columns, as of the sides of images (`image_grid_thw`, `image_sizes`), what each row multiplies to."""
    found = []
    for key, leaf in leaves(name, value):
        if is_tensor(leaf) and not (leaf.is_floating_point() or leaf.is_complex() or leaf.is_cuda):
            found += [(f"{key} not -100", int((leaf != -100).sum())), (f"{key} not 0", int(leaf.count_nonzero()))]
            if leaf.ndim == 2 and leaf.shape[1] in (2, 3) and len(leaf) <= MOST_ROWS:
                found += [(f"{key} row {i}", int(area)) for i, area in enumerate(leaf.prod(1))]
    return found


def bytes_in(value):
    """Of the tensors and arrays in `value`."""
    return sum(size for _, leaf in leaves("", value) if isinstance(size := getattr(leaf, "nbytes", None), int))


def is_tensor(value):
    return type(value) is getattr(sys.modules.get("torch"), "Tensor", None)  # a subclass may compute its shape


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def in_order(shapes):
    """By their number of elements."""
    return sorted(shapes, key=lambda shape: (elements(shape), shape))
