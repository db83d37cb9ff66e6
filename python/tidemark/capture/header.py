"""The header of a family's program: what it was captured of, which keys of a configuration it asks for, and what it holds for."""

import re

import torch

from . import config_keys
from .generation import PHASES
from .keys import Defaults, at, changed, is_whole, leaves_of, makers_of_defaults, parts_of, without, written
from .models import FEATURES, classes_of
from .orders import letters_of, older_kinds
from .text import typed
from .told import loss_takes_items, told_of
from .windows import windows_of

MERGES = ("spatial_merge_size", "pooling_kernel_size", "downsample_factor")  # so many patches each way are one token

OF_LANGUAGE = ("causal_lm", "image_text_to_text")  # heads


class Header:
    def __init__(self, family, merged, ties, tie_guards):
        """`merged`: [(way, case, main body, numbers that are left, captures)]; `ties`: flags that tie parameters; `tie_guards`: conditions on such that do more."""
        self.family, self.merged, self.tie_guards = family, merged, tie_guards
        axes, flagged = family.axes, {path for flags in family.flags for path in flags}
        self.guards_of_flags = {path: guard for guard in axes.guards for path in flagged if guard.partition(" ")[0] == path}
        self.mains = [[*way.conditions(), *case.conditions, *(guard for path, guard in self.guards_of_flags.items() if path not in case.flags)] for way, case, *_ in merged]
        asked = [path for path, _ in leaves_of(family.base) if any(path in re.split(r"[ (),/]", c) for main in self.mains for c in main)]
        counts = [count for _, count in family.layers.orders.values() if count]
        self.used = list(dict.fromkeys([*(p for g in axes.groups for p in g), *axes.guarded, *asked, *family.asked, *counts, *ties, *(guard.partition(" ")[0] for guard in tie_guards)]))
        undeclared = " ".join(family.undeclared.get(path, "") for path in self.used)  # a default may be made of keys that nothing else uses
        self.used += [path for path, _ in leaves_of(family.base) if path not in self.used and re.search(rf"(?<![\w.]){re.escape(path)}(?![\w.])", undeclared)]
        self.makers = makers_of_defaults(family.build, family.base, self.used)
        self.used += self.makers
        self.wholes = [path for path in self.used if is_whole(at(family.base, path))]
        self.by_number = sorted({*family.unwritten.values()})
        _, _, self.root, _, (self.first, *_) = merged[0]

    def lines(self, without):
        """(key, value)s; `without`: why other ways are not told."""
        yield from self._captured(without)
        yield from (("reads", keys) for keys in config_keys.lines(self.family.config_class))
        yield from (("key", line) for line in self._keys())
        yield from (("part", f"{name} = {written(values)}") for name, values in parts_of(self.family.build({}), self.used).items())
        yield from (("holds", condition) for condition in self._conditions())
        yield from (("input", f"{path}: {typed(dtype, dims)}") for path, dtype, dims in _inputs(self.merged))

    def _captured(self, without):
        import transformers

        family, first = self.family, self.first
        sizes = {name: value for name, value in first.sizes.items() if name not in family.axes.names()}
        sizes |= {"skew": 0} if any(r.shares for *_, captures in self.merged for r in captures) else {}  # of what `routed` says (src/program/routed.h)
        yield from [("tidemark-program", "1"), ("model_type", family.kind), ("class", self.root.name), *self._heads(), ("transformers", transformers.__version__), ("torch", torch.__version__.partition("+")[0])]
        yield from [("training", written(family.trained_for not in PHASES)), ("device", "cuda"), *([("looks", "true")] if sees(first) else []), *([("half_images", "true")] if family.sees_images else [])]
        yield from [("by_chance", " ".join(sorted(first.by_chance)))] if first.by_chance else []
        yield from [("T", "bfloat16"), *(("without", why) for why in without), *([("dtypes", family.dtypes)] if family.dtypes else [])]
        yield from [("sizes", " ".join(f"{k}={v}" for k, v in sizes.items())), ("points", str(len(family.draws))), ("unsolved", "0")]

    def _heads(self):
        """What the class is trained for, and the classes that are trained in its place where a configuration names them."""
        family, trained = self.family, self.root.name
        model = family.source(family.base, family.usual).make(torch.bfloat16, family.device)
        if family.trained_for in PHASES:
            yield "head", family.trained_for.lower()
            yield from told_of(model)
            return
        classes = classes_of(family.kind)
        heads = [head.lower() for head, names in classes.items() if trained in names and head != FEATURES][:1]
        yield from (("head", head) for head in heads)
        if heads and heads[0] not in OF_LANGUAGE and loss_takes_items(model):  # those of language do (src/estimate/predict.cpp, takes_items)
            yield "loss_takes_items", "true"
        yield from told_of(model)
        others = sorted({name for names in classes.values() for name in names} - {trained})
        if others:
            yield "instead", " ".join(others)

    def _keys(self):
        family = self.family
        draws = [changed(draw, {path: at(draw, path) << n % 3 for path in self.makers}) for n, draw in enumerate(family.draws)]  # the base has one value for all
        defaults = Defaults(family.build, draws, config_keys.other_names(family.config_class), sorted({*config_keys.taken_from_kwargs(family.config_class)}), family.axes.usual, family.undeclared)
        for path in self.used:
            yield f"{path} = 4*{width_of(path)}; null" if path in family.inner else defaults.line(path, [n for n in self.wholes if n != path])
        yield from (f"{path} = {self._default_list(path)}" for path in family.layers.cycles)
        yield from (self._order_line(path, defaults) for path in family.layers.orders)
        yield from (f"{path} = {written(at(family.config_class().to_dict(), path))}; null" for path in family.layers.spelled)
        yield from (f"{path} = null" for path in self.by_number)

    def _default_list(self, path):
        """Of a list with an entry for each layer, or of layers' numbers: nothing where the class makes it of how many there are."""
        family = self.family
        default, count = at(family.config_class().to_dict(), path), family.layers.numbers.get(path)
        if count is None or at(family.config_class(**changed({}, {count: at(family.base, count)})).to_dict(), path) != default:
            return "null"
        return f"{written(default)}; null"

    def _order_line(self, path, defaults):
        """Of a list of layers' kinds in any order, with what spells it as a word."""
        from transformers import configuration_utils

        family = self.family
        others, older = defaults.others(path), [] if "." in path else defaults.older
        words = letters_of(family.configuration(family.base), older, at(family.base, path), lambda keys: at(family.build({**without(family.base, path), **keys}), path))
        before = older_kinds(family.layers.orders[path][0], getattr(configuration_utils, "_LEGACY_LAYER_TYPE_REMAP", {}), lambda entries: at(family.build(changed(family.base, family.layers.as_long({path: entries}))), path))
        line = f"{path} = {written(at(family.build({}), path))}; null"
        line += (f"; older {written(before)}" if before else "") + (f"; also {' '.join(others)}" if others else "")
        return line + "".join(f"; letters {word} {written(letters)}" for word, letters in words)

    def _conditions(self):
        family, axes = self.family, self.family.axes
        yield from ["padding == false"] if family.usual.padding is None else []
        yield from [] if family.sees else ["images == 0"]
        if family.has_grids:
            yield from (f"{side} % {path} == 0" for path in self.wholes if path.endswith(MERGES) for side in ("grid_h", "grid_w"))
        windows = windows_of(family.base, self.first.sizes) if family.has_windows else None
        yield from (f"{side} >= {windows.side}" for side in ("grid_h", "grid_w") if windows)  # of one window one way, a permuted tensor is a view
        yield from [*family.guards, *(guard for guard in axes.guards if guard not in self.guards_of_flags.values()), *self.tie_guards, *axes.equalities(), *family.layers.conditions()]
        yield from (f"{path} == null" for path in self.by_number)


def sees(recorder):
    """Whether it is of images, or sounds, within texts or beside them."""
    return "images" in recorder.sizes or {"input_ids", "pixel_values"} <= {path for path, _ in recorder.root.given}


def width_of(inner):
    """The key of the width that an inner one is four times, where nobody says it."""
    return inner.replace("n_inner", "n_embd").replace("intermediate_size", "hidden_size")


def _inputs(merged):
    """What the batches of all ways have, as the first that has it says: the cases behind that are of fewer images."""
    inputs = {}
    for _, _, root, *_ in merged:
        for path, dtype, dims in root.params:
            inputs.setdefault(path, (path, dtype, dims))
    return inputs.values()
