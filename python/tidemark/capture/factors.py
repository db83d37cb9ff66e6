"""Lists of factors by which the frequencies of a rotation are divided: as many as there are pairs of a head that are rotated (transformers/modeling_rope_utils.py, _compute_longrope_parameters)."""

import re

from .keys import COUNT, at, changed, is_whole, leaves_of
from .sizes import Solver

_FACTORS = re.compile(r"(?:^|(?<=\.))rope_parameters\.(?:short|long)_factor$")


def paths_of(keys):
    return [path for path, value in leaves_of(keys) if _FACTORS.search(path) and isinstance(value, list) and value]


def with_factors(keys, usual):
    """The keys with lists that are as long as heads are wide; `usual`: those of the class, where they do not say."""
    return changed(keys, {path: [at(keys, path)[0]] * _pairs(keys, usual, path) for path in paths_of(keys)})


def _pairs(keys, usual, path):
    def own(key):
        beside = _FACTORS.sub(key, path)
        value = at(keys, beside)
        return at(usual, beside) if value is None else value

    head = own("head_dim") or own("hidden_size") // own("num_attention_heads")
    share = own("rope_parameters.partial_rotary_factor")
    return int(head * (1.0 if share is None else share)) // 2


def conditions(keys, usual, draws):
    """How many factors there have to be, by other keys of these configurations."""
    wholes = [path for path, value in leaves_of(keys) if is_whole(value) and all(is_whole(at(draw, path)) for draw in draws)]
    solve = Solver([{path: at(draw, path) for path in wholes} for draw in draws])
    return [f"{path}.{COUNT} == {solve(tuple(_pairs(draw, usual, path) for draw in draws))}" for path in paths_of(keys)]
