"""What a model makes at its first call and has from then on: the first call and the second, side by side, are one program that says which part is done `once`.

A module's attribute that the first call gives a value, and that the second reads, is made in a block of its own; where it was a number before, the block ends with the value's name.  All else is as the first call does it, in which
every buffer still has its own name: one that another stands in for since would have that one's.
"""

from .blocks import blocks_between
from .lifting import used
from .merging import Differs
from .recorder import Call, Death, Kept, Op, tensor_attributes
from .terms import Ref, Typed, Weight, map_terms, walk_terms


def tensors_of(model):
    return dict(tensor_attributes(model))


def is_left(before, model, recorder):
    """Whether the first call left something that the second, which this recorder saw, found."""
    after = tensors_of(model)
    return any(after.get(path) is not tensor for path, tensor in before.items()) or bool(recorder.read - set(before))


def with_once(second, first):
    """The first call, with what the second does not do again in blocks."""
    pairs = _Pairs(first.root, second.root)
    for frame, more in pairs.blocks:
        _enclose(frame, more, pairs.made, pairs.named.get(frame, ()))
    _name(first.root, pairs.made)
    first.weight_types.update({made.path: second.weight_types[made.path] for made in pairs.made.values()})
    return first


class _Pairs:
    """Frames of both calls, side by side: `made` are values of the first that are attributes in the second, `blocks` [(frame, steps)] what only the first does, `named` {frame: [Kept]} values that were numbers before, as long as the first call lasted."""

    def __init__(self, first, second):
        self.made, self.blocks, self.named, todo = {}, [], {}, [(first, second)]
        while todo:
            one, other = todo.pop()
            self._compare(one, other)
            todo += [(a.frame, b.frame) for a, b in zip(_calls(one), _calls(other))]

    def _compare(self, one, other):
        steps, again = _steps(one), _steps(other)
        blocks = blocks_between([_name_of(e) for e in steps], [_name_of(e) for e in again])
        if blocks is None:
            raise Differs(f"{one.kind} {one.name} does other things when it is called again")
        self.blocks += [(one, steps[first:last]) for first, last in blocks]
        done_again = set(range(len(steps))).difference(*(range(*block) for block in blocks))
        others, same, read = [steps[k] for k in sorted(done_again)], {}, set()
        for a, b in zip(others, again):
            for term, later in zip(_terms(a), _terms(b)):
                if isinstance(term, Ref) and isinstance(later, Weight):
                    self.made[term] = later
                elif isinstance(term, Ref):
                    same[term] = later
                elif isinstance(later, Weight) and not isinstance(term, Weight):
                    read.add(later.path)
        for kept in [e for e in one.events if len(blocks) == 1 and isinstance(e, Kept) and e.name in read]:
            one.events.remove(kept)
            self.named.setdefault(one, []).append(Kept(kept.ref, kept.name))
            _let_go(one, kept.ref, others[_steps_before_death(other, same[kept.ref]) - 1])


def _steps_before_death(frame, ref):
    """Of a value that nothing keeps."""
    end = next(k for k, e in enumerate(frame.events) if isinstance(e, Death) and e.ref == ref)
    return sum(isinstance(e, (Call, Op)) for e in frame.events[:end])


def _let_go(frame, ref, step):
    """The local name goes behind that step, as it does when it is called again."""
    frame.events.insert(frame.events.index(step) + 1, Death(ref))


def _enclose(frame, steps, made, named):
    """Puts marks around steps, and the names of attributes on what is left of them; `named`: what was there before them, and gets its name with them."""
    start, end = frame.events.index(steps[0]), frame.events.index(steps[-1]) + 1
    while end < len(frame.events) and isinstance(frame.events[end], Death):
        end += 1
    new = {r.ref for e in steps if isinstance(e, Op) for r in e.results if isinstance(r, Typed)}
    block = [e for e in frame.events[start:end] if isinstance(e, Op) or isinstance(e, Death) and e.ref in new]
    others = [e for e in frame.events[start:end] if isinstance(e, Death) and e.ref not in new]
    left = [ref for ref in new & made.keys() if not any(isinstance(e, Death) and e.ref == ref for e in block)]
    used_later = {ref for e in frame.events[end:] for ref in used(e)} & new
    if not left or used_later - set(left) or any(isinstance(e, Call) for e in steps):
        raise Differs(f"{frame.kind} {frame.name} does more than make attributes when it is first called")
    kept = [*named, *(Kept(ref, made[ref].path) for ref in sorted(left))]
    frame.events[start:end] = [Op("once", (Weight(kept[0].path),), (), (), None), *block, *kept, Op("end once", (), (), (), None), *others]


def _name(frame, made):
    """Behind the blocks, what they make is an attribute."""

    def named(term):
        return made.get(term, term)

    def all_of(terms, but=()):
        return tuple([t if isinstance(t, Typed) and t.ref in but else named(t.ref) if isinstance(t, Typed) and t.ref in made else map_terms(t, named) for t in terms])

    stored = _stored_anew(frame, made)
    frame.given, frame.returned = ([(path, named(term)) for path, term in terms] for terms in (frame.given, frame.returned))
    inside, events, kept = False, [], set()
    for event in frame.events:
        if isinstance(event, Op) and event.name in ("once", "end once"):
            inside = event.name == "once"
        elif isinstance(event, Call):
            _name(event.frame, made)
        elif not inside and isinstance(event, Op):
            event.args, event.results = all_of(event.args), all_of(event.results, stored)
            event.kwargs = tuple([(key, *all_of([term])) for key, term in event.kwargs])
        elif not inside and event.ref in made and event.ref not in stored | kept and (isinstance(event, Death) or event.path in (None, made[event.ref].path)):
            continue
        elif isinstance(event, Kept) and event.ref in stored:  # which a module notes as what it is and as a buffer
            stored.remove(event.ref)
            kept.add(event.ref)
        elif isinstance(event, Kept) and event.ref in kept:
            continue
        events.append(event)
    frame.events = events


def _stored_anew(frame, made):
    """What an operation gives and its module keeps, and the second call gets from the same operation as what was kept: a buffer that is cast where it lies (transformers: models/ctrl, pos_encoding)."""
    given, inside = set(), False
    for event in frame.events:
        if isinstance(event, Op):
            inside = event.name == "once" or (inside and event.name != "end once")
            given |= {r.ref for r in event.results if isinstance(r, Typed) and r.ref in made and not inside}
    return given & {event.ref for event in frame.events if isinstance(event, Kept) and event.path == getattr(made.get(event.ref), "path", None)}


def _steps(frame):
    return [e for e in frame.events if isinstance(e, (Call, Op))]


def _calls(frame):
    return [e for e in frame.events if isinstance(e, Call)]


def _name_of(event):
    return event.name if isinstance(event, Op) else "call " + event.frame.name


def _terms(event):
    if isinstance(event, Call):
        return [t for _, t in (*event.frame.given, *event.frame.returned)]
    terms = [t for x in (*event.args, *(t for _, t in event.kwargs)) for t in walk_terms(x)]
    return [*terms, *(r.ref if isinstance(r, Typed) else r for r in event.results)]
