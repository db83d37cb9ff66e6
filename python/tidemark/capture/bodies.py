"""Frames as bodies: statements in names of their own, so that calls that are alike have one body."""

import dataclasses
from typing import Any, NamedTuple

from .recorder import Call, Death, Kept
from .terms import Ref, Typed, Weight, map_terms, walk_terms


class Statement(NamedTuple):
    """One line.  kind: op, call, del, hold, keep, repeat; what a kind does not need is empty."""

    kind: str
    name: Any = ""          # of the function, or the path of the module
    results: tuple = ()
    args: tuple = ()        # (keyword or "", term)
    mark: str = ""
    body: Any = None        # of the frame that is called
    block: tuple = ()       # of a repeat
    count: Any = None       # of a repeat: rounds - 1
    next: tuple = ()        # of a repeat: (name, what it is in the next round)


@dataclasses.dataclass(eq=False)
class Body:
    kind: str
    name: str
    checkpointable: bool
    params: tuple           # (path, dtype, sizes)
    statements: tuple
    saved: tuple
    returned: tuple         # (path, term)


def replace_terms(statement, change):
    """The statement with `change` done to every term in it."""
    return statement._replace(
        results=tuple(map_terms(r, change) for r in statement.results), args=tuple((k, map_terms(t, change)) for k, t in statement.args),
        block=tuple(replace_terms(s, change) for s in statement.block), next=tuple((change(a), change(b)) for a, b in statement.next))


class Bodies:
    """Makes the bodies of a recorder's frames; two that are equal are one object."""

    def __init__(self, recorder, fold):
        self.recorder, self.fold, self.interned = recorder, fold, {}

    def of(self, frame):
        given = {}
        for path, term in frame.given:
            given.setdefault(term, "$" + path)
        home = self.home(frame)

        def local(term):
            if isinstance(term, Weight):
                if frame.kind != "class" or not _below(term.path, home):
                    return given.get(term, "@" + term.path)
                return "self." + term.path[len(home) + 1 if home else 0:]
            return given.get(term, term)

        statements = [replace_terms(s, local) for s in self.statements(frame, home)]
        returned = [(path, local(term)) for path, term in frame.returned]
        statements += self.survivors(statements, {t for _, t in returned})
        *statements, ending = self.fold([*statements, Statement("return", args=tuple(returned))])   # it may name what a repeat leaves
        returned = ending.args
        named = _Naming()
        statements = tuple(named.statement(s) for s in statements)
        params = tuple((path, *self.type_of(term)) for path, term in frame.given)
        body = Body(frame.kind, frame.name, frame.checkpointable, params, statements, tuple(named.term(local(t)) for t in frame.saved),
                    tuple((path, named.term(t)) for path, t in returned))
        return self.interned.setdefault((body.kind, body.name, body.checkpointable, params, statements, body.saved, body.returned), body)

    @staticmethod
    def home(frame):
        """The path of the module that `self` is."""
        while frame.path is None and frame.parent is not None:
            frame = frame.parent
        return frame.path or ""

    def type_of(self, term):
        if isinstance(term, Weight):
            return self.recorder.weight_types[term.path]
        result = self.recorder.result(term)
        return result.dtype, result.sizes

    def statements(self, frame, home):
        deaths = []
        for event in frame.events:
            if isinstance(event, Death):
                deaths.append(("", event.ref))
                continue
            if deaths:
                yield Statement("del", args=tuple(deaths))
                deaths = []
            if isinstance(event, Kept):
                if event.ref.value in self.recorder.left_alive:
                    yield Statement("keep", args=(("", event.ref),))
            elif isinstance(event, Call):
                inner = event.frame
                before = {t for _, t in inner.given}
                results, new = [], set()
                for _, term in inner.returned:
                    known = isinstance(term, Weight) or term in before or term in new or not _made_in(self.recorder.seen[term.value].frame, inner)
                    results.append(term if known else self.recorder.result(term))
                    new.add(term)
                yield Statement("call", self.path(inner, home), tuple(results), tuple(inner.given), body=self.of(inner))
            else:
                results = tuple(self.recorder.result(r.ref, r.flags) if isinstance(r, Typed) else r for r in event.results)   # by their dtypes as known now
                yield Statement("op", event.name or "", results, tuple(("", t) for t in event.args) + event.kwargs, event.mark or "")
        if deaths:
            yield Statement("del", args=tuple(deaths))

    @staticmethod
    def path(frame, home):
        if frame.kind != "class":
            return ""
        if frame.path is None:
            return "?"
        if frame.path == home:
            return "."
        return frame.path[len(home) + 1 if home else 0:] if _below(frame.path, home) else "@" + frame.path

    def survivors(self, statements, returned):
        """What is alive when the body ends and neither kept already nor returned: something else holds it."""
        kept = {t for s in statements if s.kind == "keep" for _, t in s.args}
        made = dict.fromkeys(r.ref for s in statements for r in s.results if isinstance(r, Typed) and isinstance(r.ref, Ref))
        held = [("", r) for r in made if r.value in self.recorder.alive_at_return and r not in returned and r not in kept]
        for kind, chosen in (("hold", [h for h in held if h[1].value not in self.recorder.left_alive]), ("keep", [h for h in held if h[1].value in self.recorder.left_alive])):
            if chosen:
                yield Statement(kind, args=tuple(chosen))


def _below(path, home):
    return not home or path.startswith(home + ".")


def _made_in(frame, outer):
    while frame is not None and frame is not outer:
        frame = frame.parent
    return frame is outer


class _Naming:
    """Values by the order in which they first appear."""

    def __init__(self):
        self.names = {}

    def term(self, term):
        return f"%{self.names.setdefault(term, len(self.names))}" if isinstance(term, Ref) else term

    def statement(self, statement):
        for result in statement.results:   # results first: %0 = f(…)
            for t in walk_terms(result):
                self.term(t)
        return replace_terms(statement, self.term)
