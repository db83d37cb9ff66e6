"""The ways in which a family is made to run, and what its sizes may be to each other, so that it does other things: each has a main body of its own."""

import functools
import itertools
import re
from typing import NamedTuple

from .keys import at, changed, is_whole, leaves_of, written
from .merging import SameSizes

_WINDOWS = re.compile(r"(^|\.)(sliding_window|window_size|keep_window_size|attention_window|local_attention|attention_chunk_size)$")
_ORIGINALS = re.compile(r"(^|\.)original_max_position_embeddings$")  # tokens, beyond which frequencies of a rotation are others
_KEYS = re.compile(r"(?:^|(?<=\.))num_(\w+_)?key_value_heads$")  # also of some layers alone
_CHUNKS = re.compile(r"(^|\.)(mamba_)?chunk_size$")
_LINEAR_KEYS = re.compile(r"(?:^|(?<=\.))linear_num_key_heads$")  # of linear attention
_WIDE = 4096  # and more, another in each draw: numbers follow it that nobody sees in texts within it, as where a cache is cut (transformers/cache_utils.py, DynamicSlidingWindowLayer)


class Way(NamedTuple):
    """How a model is made to run."""

    attention: str
    cache: object  # None where a model has none
    positions: bool = False  # whether the batch brings them
    experts: object = None  # how they are run; None where a model has none, or no choice
    padding: object = None  # whether the batch has some; None where it never has
    checkpointing: object = None  # whether the model is told of that; None where it minds not
    autocast: object = None  # one of autocast.py's KINDS, under which it does something of its own
    minded: tuple = ()  # those under which it does not do this

    def conditions(self):
        return [
            f"attention == {written(self.attention)}",
            *([f"cache == {written(self.cache)}"] if self.cache is not None else []),
            *(["positions == true"] if self.positions else []),
            *([f"experts == {written(self.experts)}"] if self.experts else []),
            *([f"padding == {written(self.padding)}"] if self.padding is not None else []),
            *([f"checkpointing == {written(self.checkpointing)}"] if self.checkpointing is not None else []),
            *([f"autocast == {written(self.autocast)}"] if self.autocast else []),
            *(f"autocast != {written(kind)}" for kind in self.minded),
        ]

    def goes_through_experts(self):
        """Whether they are run one after the other, if there are any."""
        return self.experts in (None, "eager")


class Case(NamedTuple):
    """What sizes are to each other: the conditions, the keys of a configuration for which they hold, and how many tokens of about so many."""

    conditions: tuple
    keys: object = lambda keys: keys
    tokens: object = lambda tokens, keys: tokens
    grid: object = lambda grid: grid
    images: object = lambda images: images  # of a sample
    flags: tuple = ()  # keys that say that the model does something more

    def and_also(self, other):
        return Case(
            self.conditions + other.conditions,
            lambda keys: other.keys(self.keys(keys)),
            lambda tokens, keys: other.tokens(self.tokens(tokens, keys), keys),
            lambda grid: other.grid(self.grid(grid)),
            lambda images: other.images(self.images(images)),
            self.flags + other.flags,
        )

    def sizes(self, sizes, keys):
        samples, tokens, images, *grid = sizes
        return (samples, self.tokens(tokens, keys), self.images(images), *self.grid(grid))


_ANY = Case(())


def cases_of(family):
    """All that its sizes may be to each other, together."""
    by = (_by_images(family), _by_grid(family), _by_window(family), _by_length(family), _by_chunk(family), _by_heads(family), _by_rest(family), _by_flags(family))
    cases = [functools.reduce(Case.and_also, cases) for cases in itertools.product(*by)]
    alone = set(family.alone) & {condition for case in cases for condition in case.conditions}  # some releases do not tell them apart
    return [case for case in cases if set(case.conditions) >= alone]


def _by_flags(family):
    """What a model does more where flags say so; without any it is as the conditions on these say (axes.py)."""
    return [_ANY, *(Case(tuple(f"{path} > 0.0" if isinstance(value, float) else f"{path} == {written(value)}" for path, value in flags.items()), functools.partial(changed, values=flags), flags=tuple(flags)) for flags in family.flags)]


def _by_rest(family):
    """Layers in whole rounds of their kinds, and some that are left over."""
    cases = [_ANY]
    for path, (period, rests) in family.layers.rests().items():
        cases = [case.and_also(_with_rest(path, period, rest)) for case in cases for rest in rests]
    return cases


def _with_rest(path, period, rest):
    return Case((f"{path} % {period} == {rest}",), lambda keys: changed(keys, {path: at(keys, path) // period * period + rest}))


def _by_images(family):
    """Of several images of a sample the last one's values die otherwise than those of the others, and of one image those of the first do."""
    return [Case(("images > B",)), Case(("images == B",), images=lambda images: 1)] if family.has_grids else [_ANY]


def _by_grid(family):
    """Images that are wider than high, and others: the positions of a text go on after the longer side (transformers/models/qwen2_vl, get_rope_index)."""
    if not family.has_grids:
        return [_ANY]
    wide, high, square = (family.brief(family.base, grid=grid) for grid in ((8, 12), (12, 8), (12, 12)))
    if high.is_alike(wide) and square.is_alike(wide):
        return [_ANY]
    over, under = (">=", "<") if square.is_alike(wide) else (">", "<=")
    return [Case((f"grid_w {over} grid_h",)), Case((f"grid_w {under} grid_h",), grid=lambda grid: grid[::-1])]


def _by_window(family):
    """Texts within a window, and longer ones; windows of images are beside the size of patches."""
    names = dict(leaves_of(family.base))
    return _by_tokens(family, [path for path, value in names.items() if _WINDOWS.search(path) and is_whole(value) and path.rpartition(".")[0] + ".patch_size" not in names])


def _by_length(family):
    """Texts that are longer than those that a model was trained with at first, where the code asks (transformers 5.17.0: modeling_rope_utils.py, longrope_frequency_update)."""
    paths = [path for path, value in leaves_of(family.base) if _ORIGINALS.search(path) and is_whole(value)]
    within, *over = _by_tokens(family, paths)
    return [within, *(Case(case.conditions, lambda keys: changed(keys, {path: 8 + at(keys, path) % 59 for path in paths})) for case in over)]


def _by_tokens(family, paths):
    """Texts of as many tokens as these keys say, and longer ones."""
    if not paths:
        return [_ANY]
    wide = dict.fromkeys(paths, _WIDE)
    tokens = family.tokens
    try:
        within = family.brief(changed(family.base, wide))
        if len(paths) > 1:  # a part that is not trained has windows too
            paths = [path for path in paths if not family.brief(changed(family.base, {**wide, path: 16})).does_as(within, SameSizes)]
        over, whole = (family.brief(changed(family.base, {**wide, **dict.fromkeys(paths, v)})) for v in (16, tokens + 1))
    except Exception:  # of images, whose windows have a bias for each two places; of sounds, that are made fewer window by window
        return [_ANY]
    if over.does_as(within, SameSizes):
        return [_ANY]
    sides = 1 if whole.does_as(within, SameSizes) else 2  # what some call a window goes to both sides (configuration_modernbert.py, sliding_window)
    exact = family.brief(changed(family.base, {**wide, **dict.fromkeys(paths, sides * tokens)}))
    below, above = ("<=", ">") if exact.does_as(within, SameSizes) else ("<", ">=")
    windows = [path if sides == 1 else f"{path}//{sides}" for path in paths]
    cases = [Case(tuple(f"S {below} {w}" for w in windows), lambda keys: changed(keys, {p: _WIDE + at(keys, p) for p in paths})), Case(tuple(f"S {above} {w}" for w in windows))]
    none = changed(family.base, dict.fromkeys(paths))
    return [*cases, Case(tuple(f"{p} == null" for p in paths), lambda keys: changed(keys, dict.fromkeys(paths)))] if family.runs(none) else cases


def _by_chunk(family):
    """Texts of whole chunks, and others: what fills the last chunk of those is cut off again."""
    paths = [path for path, value in leaves_of(family.base) if _CHUNKS.search(path) and is_whole(value)]
    if len(paths) != 1:
        return [_ANY]
    path, tokens = paths[0], family.tokens
    whole, rest = (family.brief(changed(family.base, {path: chunk})) for chunk in (tokens // 6, tokens // 6 + 1))
    if rest.is_alike(whole):
        return [_ANY]
    return [Case((f"S % {path} == 0",), tokens=lambda tokens, keys: -(-tokens // at(keys, path)) * at(keys, path)), Case((f"S % {path} > 0",), tokens=lambda tokens, keys: tokens + (tokens % at(keys, path) == 0))]


def _by_heads(family):
    """As many heads of keys as of queries, or fewer: those are repeated (transformers/integrations/sdpa_attention.py, repeat_kv).  In further parts fewer alone, where they are fewer."""
    cases = [_ANY]
    for few, path in ((p, _KEYS.sub("num_attention_heads", p)) for p, _ in leaves_of(family.base) if _KEYS.search(p)):
        heads = at(family.base, path)
        if not is_whole(at(family.base, few)) or not is_whole(heads) or cases != [_ANY] and at(family.base, few) == heads:
            continue
        width = path.replace("num_attention_heads", "hidden_size")
        wider = {path: heads * 2, **({width: at(family.base, width) * 2} if at(family.base, path.replace("num_attention_heads", "head_dim")) is None and is_whole(at(family.base, width)) else {})}
        if width in wider and not family.runs(changed(family.base, wider)):  # other parts have to be as wide
            wider.update({p: v * 2 for p, v in leaves_of(family.base) if is_whole(v) and v == at(family.base, width) and p.endswith("hidden_size")})
        told = _fewer_or_equal(family, few, path, {**wider, few: heads // 2}, {**wider, few: heads * 2})
        if told:
            cases = told if cases == [_ANY] else [case.and_also(told[0]) for case in cases]
    for few, path in ((p, _LINEAR_KEYS.sub("linear_num_value_heads", p)) for p, _ in leaves_of(family.base) if _LINEAR_KEYS.search(p)):
        heads = at(family.base, path)
        told = _fewer_or_equal(family, few, path, {few: heads // 4}, {few: heads})
        cases = [case.and_also(one) for case in cases for one in told or [_ANY]]
    return cases


def _fewer_or_equal(family, few, path, fewer, equal):
    """The cases of fewer heads of keys and of as many; none where they are alike.  The keys of the former are those to begin with."""
    fewer, equal = changed(family.base, fewer), changed(family.base, equal)
    try:
        alike = [family.brief(fewer, way).is_alike(family.brief(equal, way)) for way in family.looks]
    except Exception:  # whatever a model of such a configuration raises
        return []
    if all(alike):
        return []
    family.base = fewer
    return [Case((f"{few} < {path}",)), Case((f"{few} == {path}",), lambda keys: changed(keys, {few: at(keys, path)}))]
