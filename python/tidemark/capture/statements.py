"""What a body is made of."""

import dataclasses
from typing import Any, NamedTuple

from .terms import map_terms


class Statement(NamedTuple):
    """One line.  kind: op, call, del, hold, keep, repeat, each, of; what a kind does not need is empty."""

    kind: str
    name: Any = ""  # of the function, or the path of the module; the first round; the kind of layer that it is done `of`
    results: tuple = ()
    args: tuple = ()  # (keyword or "", term)
    mark: str = ""  # behind it; of an `each` of layers the list of their kinds
    body: Any = None  # of the frame that is called
    block: tuple = ()  # of a repeat, or of what is done for each image
    count: Any = None  # of a repeat: its last round
    next: tuple = ()  # of a repeat: (name, what it is in the next round)


@dataclasses.dataclass(eq=False)
class Body:
    kind: str
    name: str
    checkpointable: bool
    params: tuple  # (path, dtype, sizes)
    statements: tuple
    saved: tuple
    returned: tuple  # (path, term)


def replace_terms(statement, change):
    """The statement with `change` done to every term in it."""
    kind, name, results, args, mark, body, block, count, following = statement
    return Statement(  # results first: they are named so
        kind,
        name,
        tuple([map_terms(r, change) for r in results]),
        tuple([(k, map_terms(t, change)) for k, t in args]),
        mark,
        body,
        tuple([replace_terms(s, change) for s in block]),
        count,
        tuple([(change(a), change(b)) for a, b in following]),
    )
