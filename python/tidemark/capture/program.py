"""A program from a source: captured at several sizes and in several dtypes, merged, as text."""

import dataclasses
import json

import torch

from .bodies import Bodies
from .dtypes import follow
from .folding import fold
from .lifting import lift
from .merging import Differs, Merger
from .points import brief
from .regimes import bounds
from .scopes import record
from .sizes import Solver
from .text import program_text, typed
from .tree import tree_lines


def _one(source, model, point, device, autocast=False):
    with torch.no_grad():
        batch = source.batch(model, point, device)
    sizes = batch.sizes
    with torch.autocast(device, torch.bfloat16, enabled=autocast):
        recorder = record(model, batch, device)
    lift(recorder)
    recorder.sizes = sizes
    return recorder


def _called(source, model, point, device):
    """The model after a first call, which makes what is made once."""
    with torch.no_grad():
        model(**source.batch(model, point, device))
    return model


def _body(recorder):
    return Bodies(recorder, fold).of(recorder.root)


def _merged(recorders, bodies):
    merger = Merger(Solver([r.sizes for r in recorders]))
    return merger.body(tuple(bodies)), merger.unsolved


def _differ(one, other):
    """Why two captures, each with its body, are not one program; empty if they are."""
    try:
        _merged(*zip(one, other))
    except Differs as why:
        return str(why)
    return ""


def _alike(captures):
    """(those that are one program with the first, why others are not); the first alone where too few are."""
    reasons = [_differ(captures[0], other) for other in captures[1:]]
    alike = captures[:1] + [other for other, why in zip(captures[1:], reasons) if not why]
    return (alike if len(alike) > 2 else captures[:1]), next(filter(None, reasons), "")


def _holds(source, model, point, first, device):
    """(shortest, longest) of the texts for which the program holds, where the model's configuration gives reason to look."""
    if source.config is None or point.images or "S" not in first[0].sizes:
        return None, None

    def is_alike(length):
        try:
            other = _one(source, model, dataclasses.replace(point, batch=point.batch + 1, seq=length), device)
        except (RuntimeError, ValueError, IndexError):
            return False
        return not _differ(first, (other, _body(other)))

    return bounds(model.config, point.seq, is_alike)


def program(source, device, points_of, facts):
    """The program's text.  `points_of(model)` are the points, the first of which was asked for; `facts(model)` are the caller's lines of the header, in order."""
    made = source.make(torch.bfloat16, device)
    tree, points, notes = tree_lines(made, torch.bfloat16, device), points_of(made), []
    model = _called(source, made, points[0], device)
    sized = [_one(source, model, point, device) for point in points]
    captures, why = _alike([(recorder, _body(recorder)) for recorder in sized])
    sized = [recorder for recorder, _ in captures]
    if why:
        notes.append(("concrete" if len(sized) == 1 else "elsewhere", why))
    shortest, longest = _holds(source, model, points[0], captures[0], device)
    point = brief(points[0], made, shortest)
    wide = _called(source, source.make(torch.float32, device), point, device)
    alone = follow(sized, _one(source, wide, point, device), _one(source, wide, point, device, autocast=True))
    if alone:
        notes.append(("dtypes", f"{alone} calls are not made in float32: what is bfloat16 there is taken to follow the weights"))
    if shortest or longest:
        notes.append(("holds", ", ".join(f"S {sign} {n}" for sign, n in ((">=", shortest), ("<=", longest)) if n)))
    root, unsolved = _merged(sized, [_body(recorder) for recorder in sized])   # by their dtypes as known now
    header = [*facts(model), *notes, ("sizes", " ".join(f"{k}={v}" for k, v in sized[0].sizes.items())), ("points", str(len(sized))), ("unsolved", str(unsolved))]
    header += [("input", f"{path}: {typed(dtype, sizes)}") for path, dtype, sizes in root.params]
    if source.config:
        header.append(("config", json.dumps(source.config)))
    return program_text(header, tree, root)
