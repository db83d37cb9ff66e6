"""Which dtypes in a program follow others.

A capture in bfloat16 shows `.to(bfloat16)`, whatever the code asked for: the dtype of the weights, or that of a value at hand.  Captures of the same model in
float32, and in both under autocast, tell them apart: all are walked side by side.
"""

import difflib

from .lifting import refs
from .recorder import CASTS, Call, Death, Op
from .terms import DtypeFrom, DtypeOf, Ref, Typed, map_terms, walk_terms

WEIGHTS = DtypeOf("T")


def follow(sized, others):
    """Writes into the captures at several sizes, all in one dtype, which of their dtypes follow the weights' or a value's.

    `others`: captures in other dtypes, the first of other weights, the last under autocast.  What these do not do has nothing to be compared with: there the model's dtype is taken to
    follow the weights.  Returns in how many calls that was so.
    """
    walk, model_dtype = SideBySide([*sized, *others]), sized[0].model_dtype
    looked_at = (0, *range(len(sized), len(walk.recorders)))
    arguments, results, compared = [], [], set()
    for frames in walk.frames():
        _tell_scopes(frames[: len(sized)], frames[-1])
        given = {t for _, t in frames[0].given if isinstance(t, Ref)}
        for ops, at_hand in walk.ops(frames):
            compared.add(ops[0])
            arguments += [(ops[: len(sized)], at, _looked_up(frames[: len(sized)], ops, chosen)) for at, chosen in _chosen(walk, ops, at_hand, given, looked_at)]
            for made in zip(*(op.results for op in ops)):
                if walk.dtype(0, made[0]) == model_dtype and walk.dtype(len(sized), made[len(sized)]) == others[0].model_dtype:
                    results += [(recorder, term.ref) for recorder, term in zip(sized, made) if isinstance(term, Typed)]
    alone = [ops for frames in SideBySide(sized).frames() for ops in zip(*map(_steps, frames)) if isinstance(ops[0], Op) and ops[0] not in compared]
    for ops in alone:
        arguments += [(ops, at, [WEIGHTS] * len(ops)) for at, term in enumerate(_terms(ops[0])) if term == DtypeOf(model_dtype)]
        results += [(recorder, term.ref) for recorder, op in zip(sized, ops) for term in op.results if isinstance(term, Typed) and term.dtype.name == model_dtype]
    for ops, at, chosen in arguments:
        for op, term in zip(ops, chosen):
            _replace(op, at, term)
    for recorder, ref in results:
        recorder.seen[ref.value].dtype = WEIGHTS.name
    _follow_weights(sized, others[0], model_dtype)
    return len(alone)


def _follow_weights(sized, other, model_dtype):
    for recorder in sized:
        for path, (dtype, sizes) in recorder.weight_types.items():
            if dtype.name == model_dtype and other.weight_types[path][0].name == other.model_dtype:
                recorder.weight_types[path] = (WEIGHTS, sizes)
        for (_, ref), (_, theirs) in zip(recorder.inputs, other.inputs):
            if recorder.seen[ref.value].dtype == model_dtype and other.seen[theirs.value].dtype == other.model_dtype:
                recorder.seen[ref.value].dtype = WEIGHTS.name


def _tell_scopes(frames, under_autocast):
    """Regions without autocast, which some code (transformers/utils/generic.py, maybe_autocast) enters only where there is one."""
    if any(_is_scope(e) for e in frames[0].events):
        return
    scopes, steps = [], 0
    for event in under_autocast.events:
        if _is_scope(event):
            scopes.append((steps, event))
        elif _is_step(event):
            steps += 1
    for frame in frames if scopes else ():
        places = [at for at, e in enumerate(frame.events) if _is_step(e)] + [len(frame.events)]
        for step, event in reversed(scopes):
            frame.events.insert(places[min(step, len(places) - 1)], event)


def _chosen(walk, ops, at_hand, given, looked_at):
    """(which argument, its term in each capture at a size) of the dtypes that differ as the model's dtype does."""
    near = given | {r for t in _terms(ops[0]) for r in refs(t)}
    for at, slots in enumerate(zip(*map(_terms, ops))):
        wanted = [slots[i] for i in looked_at]
        if not all(isinstance(t, DtypeOf) for t in wanted) or len(set(wanted)) == 1:
            continue
        names = [t.name for t in wanted]
        alike = [c for c in at_hand if [walk.dtype(i, c[i]) for i in looked_at] == names]
        if ops[0].name.rpartition(".")[2] in CASTS:  # hardly to its own
            alike = [c for c in alike if c[0] != ops[0].args[0]] or alike
        if alike:  # code asks a value that it has at hand more often than the weights; what the function or the module was given, most often
            yield at, [DtypeFrom(c) for c in next((c for c in alike if c[0] in near), alike[0])]
        elif names == [walk.recorders[i].model_dtype for i in looked_at]:
            yield at, [WEIGHTS] * len(slots)


def _looked_up(frames, ops, chosen):
    """In the place of the weights' dtype that of the weight at which the code looked before: strategies and quantization change some of them."""
    if chosen[0] != WEIGHTS:
        return chosen
    looks = [[e.args[0] for e in frame.events[: frame.events.index(op)] if isinstance(e, Op) and e.name == "look"] for frame, op in zip(frames, ops)]
    return [DtypeFrom(look[-1]) for look in looks] if all(looks) else chosen


def _terms(op):
    return [t for x in (*op.args, *(t for _, t in op.kwargs)) for t in walk_terms(x)]


def _replace(op, at, term):
    count = iter(range(len(_terms(op))))
    change = lambda t: term if next(count) == at else t
    op.args = tuple([map_terms(t, change) for t in op.args])
    op.kwargs = tuple([(k, map_terms(t, change)) for k, t in op.kwargs])


class SideBySide:
    """Several captures side by side, as far as they do the same things."""

    def __init__(self, recorders):
        self.recorders = recorders

    def dtype(self, capture, term):
        recorder, term = self.recorders[capture], term.ref if isinstance(term, Typed) else term
        return recorder.seen[term.value].dtype if isinstance(term, Ref) else recorder.weight_types[term.path][0].name

    def frames(self):
        todo = [tuple(r.root for r in self.recorders)]
        while todo:
            frames = todo.pop()
            yield frames
            todo += [tuple(e.frame for e in events) for events in _counterparts(frames).values() if isinstance(events[0], Call)]

    def ops(self, frames):
        """(the same op in each capture, the values at hand in each, as tuples over the captures)."""
        counterparts = _counterparts(frames)
        at_hand = [terms for terms in zip(*([t for _, t in f.given] for f in frames)) if all(isinstance(t, Ref) for t in terms)]
        deaths = [_Deaths(frame) for frame in frames]
        for event in frames[0].events:
            events = counterparts.get(event)
            if events:  # what takes a name over may be gone where the first has the name still
                gone = [of.before(e) for of, e in zip(deaths, events)]
                at_hand = [terms for terms in at_hand if not any(t in dead for t, dead in zip(terms, gone))]
            if events and isinstance(event, Op):
                yield events, [*zip(*([r for t in _terms(op) for r in refs(t)] for op in events)), *at_hand]
            if events:
                at_hand += [terms for terms in zip(*map(_made, events)) if None not in terms]


class _Deaths:
    """What has died in a frame, step by step."""

    def __init__(self, frame):
        self.events, self.dead = iter(frame.events), set()

    def before(self, step):
        """Steps are asked for in their order."""
        for event in self.events:
            if event is step:
                break
            if isinstance(event, Death):
                self.dead.add(event.ref)
        return self.dead


def _counterparts(frames):
    """{step of the first frame: the same step in each}: those in the longest runs that are alike."""
    steps = [_steps(f) for f in frames]
    keys = [names_of(f) for f in frames]
    rows = {i: [event] for i, event in enumerate(steps[0])}
    for theirs, names in zip(steps[1:], keys[1:]):
        if names == keys[0]:
            places = enumerate(range(len(names)))
        else:
            blocks = difflib.SequenceMatcher(None, keys[0], names, autojunk=False).get_matching_blocks()
            places = [(b.a + i, b.b + i) for b in blocks for i in range(b.size)]
        for mine, other in places:
            rows[mine].append(theirs[other])
    return {row[0]: tuple(row) for row in rows.values() if len(row) == len(frames)}


def _is_scope(event):
    return isinstance(event, Op) and event.name in ("enter autocast", "exit autocast")


def _is_step(event):
    return isinstance(event, Call) or isinstance(event, Op) and event.name is not None and not _is_scope(event)


def _steps(frame):
    return [e for e in frame.events if _is_step(e)]


def names_of(frame):
    return [e.name if isinstance(e, Op) else "call " + e.frame.name for e in _steps(frame)]


def _made(event):
    terms = [t for _, t in event.frame.returned] if isinstance(event, Call) else [r.ref if isinstance(r, Typed) else r for r in event.results]
    return [t if isinstance(t, Ref) else None for t in terms]
