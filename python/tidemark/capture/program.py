"""A program from a source: captured at several sizes and in several dtypes, merged, as text."""

import dataclasses
import json
import math

import torch

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


def _one(source, model, point, device, autocast=False, images=None):
    """`images`: in another dtype than the weights."""
    with torch.no_grad():
        batch = source.batch(model, point, device)
    sizes = batch.sizes
    batch.update({key: batch[key].to(images) for key in ("pixel_values",) if images and key in batch})
    with torch.autocast(device, torch.bfloat16, enabled=autocast), as_the_most() as asked:
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

    def one(self, point, **how):
        recorder = _one(self.source, self.model, point, self.device, **how)
        if not is_left(self.at_first, self.model, recorder):
            return recorder
        # what is left may be of the length that it was called with before
        called = _called(self.source, self.make(), point, self.device)
        return with_once(*(_one(self.source, model, point, self.device, **how) for model in (called, self.make())))


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


def _taken(again, point, samples):
    """At a point, or of as many samples as were asked for, where the model takes no others (transformers/modeling_layers.py, GenericForSequenceClassification without a token that pads)."""
    try:
        return again.one(point)
    except ValueError:
        if point.batch == samples:
            raise
        return again.one(dataclasses.replace(point, batch=samples))


def _holds(source, again, point, first):
    """The lengths of a text for which the program holds, where the model's configuration gives reason to look."""
    if source.config is None or point.images or "S" not in first.sizes:
        return []

    def is_alike(length):
        try:
            _merged([first, again.one(dataclasses.replace(point, batch=point.batch + 1, seq=length))])
        except (Differs, RuntimeError, ValueError, IndexError):
            return False
        return True

    return conditions(again.model.config, point.seq, is_alike)


def _finite(value):
    """A configuration with what JSON has no number for as text."""
    if isinstance(value, dict):
        return {key: _finite(of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(of) for of in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def program(source, device, points_of, facts, looks_for_lengths=True):
    """The program's text.  `points_of(model)` are the points, the first of which was asked for; `facts(model)` are the caller's lines of the header, in order;
    `looks_for_lengths`: find out for which others it holds."""
    again = Again(source, device, torch.bfloat16)
    tree, points, notes = tree_lines(again.model, torch.bfloat16, device), points_of(again.model), []
    again.call(points[0])
    sized = [_taken(again, point, points[0].batch) for point in points]
    sized, why = _alike(sized)
    if why:
        notes.append(("concrete" if len(sized) == 1 else "elsewhere", why))
    holds = _holds(source, again, points[0], sized[0]) if looks_for_lengths else []
    wide = Again(source, device, torch.float32).call(points[0])
    in_float32 = wide.one(points[0])
    try:
        under_autocast = wide.one(points[0], autocast=True)
    except RuntimeError as error:
        under_autocast = in_float32
        notes.append(("dtypes", f"it does not run under autocast: {' '.join(str(error).split())[:120]}"))
    alone = follow(sized, in_float32, under_autocast)
    if alone:
        notes.append(("dtypes", f"{alone} calls are not made in float32: what is bfloat16 there is taken to follow the weights"))
    if sized[0].minds_autocast:
        notes.append(("autocast", "false"))
    if sized[0].by_chance:
        notes.append(("by_chance", " ".join(sorted(sized[0].by_chance))))
    if holds:
        notes.append(("holds", ", ".join(holds)))
    root, unsolved = _merged(sized)
    header = [*facts(again.model), *notes, ("sizes", " ".join(f"{k}={v}" for k, v in sized[0].sizes.items())), ("points", str(len(sized))), ("unsolved", str(unsolved))]
    header += [("input", f"{path}: {typed(dtype, sizes)}") for path, dtype, sizes in root.params]
    if source.config:
        header.append(("config", json.dumps(_finite(source.config))))
    return program_text(header, tree, root)
