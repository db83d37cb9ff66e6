"""What a recorded argument or result is made of.

    Ref(n)              the n-th tensor that was seen
    Weight("model.norm.weight")   a parameter, buffer or tensor attribute of the model, by its path from the root
    Number(24, True)    an integer; of a tensor's shape, or (False) of an argument
    DtypeOf("float32")  a dtype
    DtypeFrom(Ref(n))   the dtype of that tensor
    Listed(terms)       a list or tuple
    Slice(a, b, c)
    Element(row, "i")   one of the values of a row (rows.py), by its place: an expression of the round, or a number; the row may be one of a row of rows
    Span(row, a, b)     those from one place to another, both included; of a tuple of rows those of each place in turn
    Linear(a, b, "i")   a*i + b
    Each(term, a, b)    what it is for i from a to b, both included
    str                 anything else, as the program spells it

Terms hold no tensor.
"""

import dataclasses
from typing import Any, NamedTuple


class Ref(NamedTuple):
    value: int


class Weight(NamedTuple):
    path: str


class Number(NamedTuple):
    value: int
    is_size: bool


class DtypeOf(NamedTuple):
    name: str


class DtypeFrom(NamedTuple):
    ref: Any


class Listed(NamedTuple):
    items: tuple


class Slice(NamedTuple):
    start: Any
    stop: Any
    step: Any


class Element(NamedTuple):
    row: Any
    at: Any


class Span(NamedTuple):
    row: Any
    first: Number
    last: Number


class Linear(NamedTuple):
    step: Any
    start: Any
    index: str = "i"


class Each(NamedTuple):
    term: Any
    first: Number
    last: Number


class Typed(NamedTuple):
    """A result that is new: `%0: float32[B, S] view`."""

    ref: Ref
    dtype: DtypeOf
    sizes: tuple
    flags: tuple


def leaves(x, is_tensor, path=""):
    """(path, tensor) of every tensor within tuples, dicts and dataclasses, in order."""
    if is_tensor(x):
        yield path, x
    elif isinstance(x, dict):
        for key, value in x.items():
            yield from leaves(value, is_tensor, f"{path}.{key}" if path else str(key))
    elif isinstance(x, (list, tuple)):
        for at, value in enumerate(x):
            yield from leaves(value, is_tensor, f"{path}.{at}" if path else str(at))
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        for field in dataclasses.fields(x):
            yield from leaves(getattr(x, field.name, None), is_tensor, f"{path}.{field.name}" if path else field.name)


def map_terms(x, change):
    """x with `change` done to each of its terms that are not containers; Typed and Slice keep their form."""
    mapped = _MAPPED.get(type(x))
    return mapped(x, change) if mapped else change(x)


_MAPPED = {  # asked for millions of times
    Listed: lambda x, change: Listed(tuple([map_terms(e, change) for e in x.items])),
    Slice: lambda x, change: Slice(map_terms(x.start, change), map_terms(x.stop, change), map_terms(x.step, change)),
    DtypeFrom: lambda x, change: DtypeFrom(change(x.ref)),
    Typed: lambda x, change: Typed(change(x.ref), change(x.dtype), tuple(map(change, x.sizes)), x.flags),
}


def walk_terms(x):
    """The terms that map_terms changes, in its order."""
    if isinstance(x, Listed):
        for e in x.items:
            yield from walk_terms(e)
    elif isinstance(x, Slice):
        for e in x:
            yield from walk_terms(e)
    elif isinstance(x, DtypeFrom):
        yield x.ref
    elif isinstance(x, Typed):
        yield from (x.ref, x.dtype, *x.sizes)
    else:
        yield x
