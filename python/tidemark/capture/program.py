"""A program from a source: captured at several sizes and in several dtypes, merged, as text."""

import dataclasses
import functools
import json
import math

import torch

from .autocast import IN_FLOAT32, KINDS, OF, Dtypes, minds, type_as
from .bodies import Bodies
from .chance import as_the_most
from .dtypes import follow
from .folding import fold
from .lifting import lift
from .merging import Differs, Merger
from .once import is_left, tensors_of, with_once
from .regimes import conditions
from .scopes import record
from .sizes import Solver
from .text import program_text, typed
from .tree import tree_lines


def _one(source, model, point, device, dtypes):
    """In these dtypes, of which the model has its weights'."""
    with torch.no_grad():
        batch = source.batch(model, point, device)
    sizes = batch.sizes
    batch.update({key: batch[key].to(dtypes.images) for key in ("pixel_values",) if dtypes.images and key in batch})
    with torch.autocast(device, dtypes.autocast, enabled=dtypes.autocast is not None), as_the_most() as asked:
        recorder = record(model, batch, device)
    recorder.by_chance |= asked
    lift(recorder)
    recorder.sizes = sizes
    return recorder


def _called(source, model, point, device):
    """The model after a first call, which makes what is made once."""
    with torch.no_grad():
        model(**source.batch(model, point, device))
    return model


class Again:
    """What a model does from its second call on, and what it does once before that."""

    def __init__(self, source, device, dtype):
        self.source, self.device, self.make = source, device, lambda: source.make(dtype, device)
        self.model = self.make()
        self.at_first = tensors_of(self.model)

    def call(self, point):
        self.model = _called(self.source, self.model, point, self.device)
        return self

    def one(self, point, dtypes):
        recorder = _one(self.source, self.model, point, self.device, dtypes)
        if not is_left(self.at_first, self.model, recorder):
            return recorder
        # what is left may be of the length that it was called with before
        called = _called(self.source, self.make(), point, self.device)
        return with_once(*(_one(self.source, model, point, self.device, dtypes) for model in (called, self.make())))


def _merged(recorders):
    merger = Merger(Solver([r.sizes for r in recorders]))
    return merger.body(tuple(Bodies(r, fold).of(r.root) for r in recorders)), merger.unsolved


def _alike(recorders):
    """(those that are one program with the first, why others are not); the first alone where too few are."""
    alike, why = recorders[:1], ""
    for recorder in recorders[1:]:
        try:
            _merged([recorders[0], recorder])
            alike.append(recorder)
        except Differs as difference:
            why = why or str(difference)
    return (alike if len(alike) > 2 else recorders[:1]), why


def _taken(again, point, samples, dtypes):
    """At a point, or of as many samples as were asked for, where the model takes no others (transformers/modeling_layers.py, GenericForSequenceClassification without a token that pads)."""
    try:
        return again.one(point, dtypes)
    except ValueError:
        if point.batch == samples:
            raise
        return again.one(dataclasses.replace(point, batch=samples), dtypes)


def _holds(source, again, point, first):
    """The lengths of a text for which the program holds, where the model's configuration gives reason to look."""
    if source.config is None or point.images or "S" not in first.sizes:
        return []

    def is_alike(length, field):
        try:
            _merged([first, again.one(dataclasses.replace(point, batch=point.batch + 1, **{field: length}), Dtypes())])
        except (Differs, RuntimeError, ValueError, IndexError):
            return False
        return True

    named = [("S", "seq"), *([("target", "target")] if "target" in first.sizes else [])]
    return [one for name, field in named for one in conditions(again.model.config, getattr(point, field), functools.partial(is_alike, field=field), name)]


def _finite(value):
    """A configuration with what JSON has no number for as text."""
    if isinstance(value, dict):
        return {key: _finite(of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(of) for of in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _under(of, point, dtypes):
    """A capture under autocast; None of a model that does not run so."""
    try:
        return of(dtypes.weights).one(point, dtypes)
    except RuntimeError:
        return None


def _at(of, points, dtypes):
    """(captures at those points at which they are one program with the first, what is to be told of the others)"""
    sized, why = _alike([_taken(of(dtypes.weights), point, points[0].batch, dtypes) for point in points])
    return sized, [("concrete" if len(sized) == 1 else "elsewhere", why)] if why else []


def _follow(sized, others):
    """What is to be told of that."""
    alone = follow(sized, others)
    return [("dtypes", f"{alone} calls are not made in other dtypes: what is {sized[0].model_dtype} there is taken to follow the weights")] if alone else []


def _under_autocast(of, points, kind, without):
    """(captures under autocast of that kind, what is to be told of them), of a model that does something of its own there."""
    dtypes, *others = OF[kind]
    sized, told = _at(of, points, dtypes)
    more = _follow(sized, [of(dtypes.weights).one(points[0], dtypes) for dtypes in others])
    type_as(without, sized[0])
    return sized, [("autocast", kind), *told, *more]


def _as_asked(of, points, sized, autocast):
    """(captures under autocast or, as those at hand, without, what is to be told of them)"""
    in_float32 = of(torch.float32).one(points[0], IN_FLOAT32)
    under = {kind: _under(of, points[0], OF[kind][0]) for kind in KINDS}
    notes = _follow(sized, [in_float32, *([other for other in under.values() if other] or [in_float32])])
    minded = [kind for kind, other in under.items() if other is None or minds(sized[0] if kind == "own" else in_float32, other)]
    if autocast in minded and under[autocast]:
        return _under_autocast(of, points, autocast, sized[0])
    if minded:
        notes.append(("autocast", " ".join(["false", *(kind for kind in KINDS if kind not in minded)])))
    return sized, notes


def program(source, device, points_of, facts, looks_for_lengths=True, autocast=None):
    """The program's text.  `points_of(model)` are the points, the first of which was asked for; `facts(model)` are the caller's lines of the header, in order;
    `looks_for_lengths`: find out for which others it holds; `autocast`: what the model does under that (autocast.py, KINDS), where that is something of its own."""
    made = Again(source, device, torch.bfloat16)
    tree, points = tree_lines(made.model, torch.bfloat16, device), points_of(made.model)
    of = functools.cache(lambda weights: (made if weights == torch.bfloat16 else Again(source, device, weights)).call(points[0]))
    sized, told = _at(of, points, Dtypes())
    holds = _holds(source, made, points[0], sized[0]) if looks_for_lengths else []
    sized, more = _as_asked(of, points, sized, autocast)
    notes = [*told, *more]
    if sized[0].by_chance:
        notes.append(("by_chance", " ".join(sorted(sized[0].by_chance))))
    if holds:
        notes.append(("holds", ", ".join(holds)))
    root, unsolved = _merged(sized)
    header = [*facts(made.model), *notes, ("sizes", " ".join(f"{k}={v}" for k, v in sized[0].sizes.items())), ("points", str(len(sized))), ("unsolved", str(unsolved))]
    header += [("input", f"{path}: {typed(dtype, sizes)}") for path, dtype, sizes in root.params]
    if source.config:
        header.append(("config", json.dumps(_finite(source.config))))
    return program_text(header, tree, root)
