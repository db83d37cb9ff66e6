"""Frames as bodies: statements in names of their own, so that calls that are alike have one body."""

from .floats import any_float
from .recorder import Call, Death, Kept
from .statements import Body, Statement, replace_terms
from .terms import Element, Ref, Span, Typed, Weight


class Bodies:
    """Makes the bodies of a recorder's frames; two that are equal, but for floats, are one object.  `rows` is done to the statements of a class, after `fold`."""

    def __init__(self, recorder, fold, rows=lambda statements: statements):
        self.recorder, self.fold, self.rows, self.interned = recorder, fold, rows, {}

    def of(self, frame):
        given = {}
        for path, term in frame.given:
            given.setdefault(term, "$" + path)
        home = self.home(frame)

        def local(term):
            if isinstance(term, Weight):
                if frame.kind != "class" or not _below(term.path, home):
                    return given.get(term, "@" + term.path)
                return "self." + term.path[len(home) + 1 if home else 0 :]
            return given.get(term, term)

        statements = [replace_terms(s, local) for s in self.statements(frame, home)]
        returned = [(path, local(term)) for path, term in frame.returned]
        statements += self.survivors(statements, {t for _, t in returned})
        statements = self.fold([*statements, Statement("return", args=tuple(returned))])  # it may name what a repeat leaves
        *statements, ending = self.rows(statements) if frame.kind == "class" else statements
        returned = ending.args
        named = _Naming()
        statements = tuple(named.statement(s) for s in statements)
        params = tuple((path, *self.type_of(term)) for path, term in frame.given)
        body = Body(frame.kind, frame.name, frame.checkpointable, params, statements, tuple(named.term(local(t)) for t in frame.saved), tuple((path, named.term(t)) for path, t in returned))
        alike = tuple(replace_terms(s, any_float) for s in statements)
        return self.interned.setdefault((body.kind, body.name, body.checkpointable, params, alike, body.saved, body.returned), body)

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
                if event.path is not None:
                    yield Statement("keep", results=(Weight(event.path),), args=(("", event.ref),))
                elif event.ref.value in self.recorder.left_alive:
                    yield Statement("keep", args=(("", event.ref),))
            elif isinstance(event, Call):
                inner = event.frame
                before = {t for _, t in inner.given}
                results, new = [], set()
                for _, term in inner.returned:
                    known = isinstance(term, Weight) or term in before or term in new or not _made_in(self.recorder.seen[term.value].frame, inner)
                    results.append(term if known else self.recorder.result(term))
                    new.add(term)
                is_filled = any(path.startswith("^") and term.value in inner.filled for path, term in inner.returned)
                yield Statement("call", self.path(inner, home), tuple(results), tuple(inner.given), "shared" if is_filled else "", self.of(inner))
            else:
                results = tuple(self.recorder.result(r.ref, r.flags) if isinstance(r, Typed) else r for r in event.results)  # by their dtypes as known now
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
        return frame.path[len(home) + 1 if home else 0 :] if _below(frame.path, home) else "@" + frame.path

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
        if isinstance(term, (Element, Span)):
            rows = term.row if type(term.row) is tuple else (term.row,)
            if isinstance(rows[0], Element):  # of a row of rows, all at one place of it
                return term._replace(row=Element("".join(self._name(row.row) for row in rows), rows[0].at))
            return term._replace(row="".join(map(self._name, rows)))
        return self._name(term) if isinstance(term, Ref) else term

    def _name(self, value):
        return f"%{self.names.setdefault(value, len(self.names))}"

    def statement(self, statement):
        return replace_terms(statement, self.term)  # results first: %0 = f(…)
