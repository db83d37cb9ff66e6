"""The same program captured at several points as one, whose numbers are expressions."""

import re

from .floats import any_float
from .statements import Body, Statement
from .terms import DtypeFrom, DtypeOf, Each, Element, Linear, Listed, Number, Ref, Slice, Span, Typed

_PLACE = re.compile(r"(?<=\.)\d+(?=\.|$)")
_LISTED = re.compile(r"\.\d+$")
_PLACE_OF_LINE = re.compile(r" *\d+: ")
_NUMBER = re.compile(r"(?<![\w%#])\d+(?!\w)")
_LOOPS = ("repeat", "each")
_SCOPES = ("enter autocast", "exit autocast")
UNTOLD = "?"  # a size


class Differs(Exception):
    """Two captures that are not one program: what is done depends on a size."""


def _by_list(columns):
    """What is returned at a place in a list that differs, as that of the last layer but one, is under the list's name."""
    lists = {_LISTED.sub("", name) for names in zip(*([key for key, _ in column] for column in columns)) if len(set(names)) > 1 for name in names}
    return [tuple((_LISTED.sub("", key) if _LISTED.sub("", key) in lists else key, term) for key, term in column) for column in columns]


class Merger:
    """`interned`: bodies of other merges that may be shared."""

    def __init__(self, solve, interned=None):
        self.solve, self.merged, self.interned, self.unsolved = solve, {}, {} if interned is None else interned, 0

    def body(self, bodies):
        key = tuple(map(id, bodies))
        if key not in self.merged:
            self.merged[key] = (self._body(bodies), bodies)  # those are kept, so that no other has their ids
        return self.merged[key][0]

    def _body(self, bodies):
        one = bodies[0]
        where = f"{one.kind} {one.name}"
        if {(b.kind, b.name) for b in bodies} != {(one.kind, one.name)}:
            raise Differs(f"{where} here, {next(b.name for b in bodies if b.name != one.name)} there")
        body = Body(
            one.kind,
            one.name,
            one.checkpointable,
            self.named([b.params for b in bodies], where),
            self.statements([b.statements for b in bodies], where),
            self.terms([b.saved for b in bodies], where),
            self.named(_by_list([b.returned for b in bodies]), where),
        )
        return self.interned.setdefault((body.kind, body.name, body.checkpointable, body.params, body.statements, body.saved, body.returned), body)

    def statements(self, columns, where):
        scopes = [at for at, s in enumerate(columns[0]) if s.name in _SCOPES]
        if scopes and not any(s.name in _SCOPES for column in columns[1:] for s in column):  # the first alone was compared with what is done under autocast
            return self._with(scopes, columns, where)
        if len(set(map(len, columns))) != 1:
            raise Differs(f"{where} does {' or '.join(map(str, sorted({len(c) for c in columns})))} things, as sizes differ")
        return tuple(self.statement(row, where) for row in zip(*columns))

    def _with(self, places, columns, where):
        """What the first alone has at these places, among what is merged."""
        rest = list(self.statements([[s for at, s in enumerate(columns[0]) if at not in places], *columns[1:]], where))
        for at in places:
            rest.insert(at, columns[0][at])
        return tuple(rest)

    def statement(self, row, where):
        one = row[0]
        place = f"{where}, {one.name or one.kind}"
        path = self.path([s.name for s in row]) if {s.kind for s in row} == {"call"} else None
        names = {s.name for s in row} if one.kind not in _LOOPS and not path else set()
        if {s.kind for s in row} != {one.kind} or len(names) > 1:
            raise Differs(f"{place} here, {next((s.name for s in row if s.name != one.name), '') or row[1].kind} there")
        marks = {s.mark for s in row}
        return Statement(
            one.kind,
            self.term([s.name for s in row], place) if one.kind in _LOOPS else path or one.name,
            self.terms([s.results for s in row], place),
            self.named([s.args for s in row], place),
            one.mark if len(marks) == 1 else self.mark(row, place),
            self.body(tuple(s.body for s in row)) if one.body else None,
            self.statements([s.block for s in row], place) if one.block else (),
            self.term([s.count for s in row], place) if one.kind in _LOOPS else None,
            one.next,
        )

    def path(self, paths):
        """Modules whose places in a list differ: `layers.{num_hidden_layers - 1}`."""
        if len(set(paths)) == 1 or len({_PLACE.sub("#", p) for p in paths}) != 1:
            return None
        columns = zip(*([int(n) for n in _PLACE.findall(p)] for p in paths))
        texts = iter([str(c[0]) if len(set(c)) == 1 else "{" + str(self.term([Number(n, False) for n in c], "")) + "}" for c in columns])
        return _PLACE.sub(lambda _: next(texts), paths[0])

    def mark(self, row, place):
        """Numbers that the host read may differ; what it decided may not."""
        if any(s.mark in ("host True", "host False") for s in row) or len({s.mark.split()[0] for s in row if s.mark}) != 1:
            raise Differs(f"{place}: decided otherwise as sizes differ")
        return row[0].mark

    def named(self, columns, where):
        if len({tuple((p[0], len(p)) for p in c) for c in columns}) != 1:
            raise Differs(f"{where}: other arguments or results")
        return tuple((row[0][0], *(self.term(cells, where) for cells in list(zip(*row))[1:])) for row in zip(*columns))

    def terms(self, columns, where):
        if len(set(map(len, columns))) != 1:
            raise Differs(f"{where}: {' or '.join(map(str, sorted({len(c) for c in columns})))} of something")
        return tuple(self.term(row, where) for row in zip(*columns))

    def term(self, row, where):
        """Dtypes are those of the first: it may be the only one that was compared with captures in other dtypes."""
        one = row[0]
        if all(isinstance(t, DtypeFrom) for t in row):
            return DtypeFrom(self.term([t.ref for t in row], where)) if isinstance(one.ref, Element) else one
        if isinstance(one, (DtypeOf, DtypeFrom)) and all(isinstance(t, (DtypeOf, DtypeFrom)) for t in row):
            return one
        if len({type(t) for t in row}) != 1:
            raise Differs(f"{where}: {' or '.join(sorted({str(t) for t in row}))}")
        if isinstance(one, Number):
            text = self.solve(tuple(t.value for t in row))
            if text is None:
                self.unsolved += 1
                return str(one.value)
            return text
        if isinstance(one, (Each, Element, Span, Linear)):
            return type(one)(*(self.term(cells, where) for cells in zip(*row)))
        if isinstance(one, Listed):
            return Listed(self.terms([t.items for t in row], where))
        if isinstance(one, Slice):
            return Slice(*(self.term(cells, where) for cells in zip(*row)))
        if isinstance(one, Typed):
            if len({t.flags for t in row}) != 1:
                raise Differs(f"{where}: a view or not, as sizes differ")
            return Typed(self.term([t.ref for t in row], where), self.term([t.dtype for t in row], where), self.terms([t.sizes for t in row], where), one.flags)
        if isinstance(one, tuple) and not isinstance(one, (Ref, DtypeOf)):
            return self.terms(row, where)
        if len(set(map(any_float, row))) != 1:
            raise Differs(f"{where}: {' or '.join(sorted({str(t) for t in row}))}")
        return one


class SameSizes(Merger):
    """Of captures in which results have the same sizes, too."""

    def term(self, row, where):
        if all(isinstance(t, Number) and t.is_size for t in row) and len(set(row)) > 1:
            raise Differs(f"{where}: {' or '.join(str(t.value) for t in row)}")
        return super().term(row, where)


class AnySize(Merger):
    """Of bodies that rounds call, each for another number of rows: sizes that differ are not told."""

    def __init__(self):
        super().__init__(solve=None)

    def term(self, row, where):
        if not all(isinstance(t, Number) for t in row):
            return super().term(row, where)
        if len(set(row)) > 1 and not all(t.is_size for t in row):
            raise Differs(f"{where}: {' or '.join(sorted({str(t.value) for t in row}))}")
        return row[0] if len(set(row)) == 1 else UNTOLD


def merged_lines(trees, solve):
    """The same tree of modules (tree.py) at several points as one, whose numbers are expressions."""
    if len(set(map(len, trees))) != 1:
        raise Differs("other modules, as sizes differ")
    merged = []
    for row in zip(*trees):
        if len({_NUMBER.sub("0", line) for line in row}) != 1:
            raise Differs(f"{row[0].strip()} here, {next(line for line in row if line != row[0]).strip()} there")
        columns = zip(*([int(n) for n in _NUMBER.findall(line)] for line in row))
        texts = iter([_solved(solve, column, row[0]) for column in columns])
        merged.append(_place_as_range(row[0], _NUMBER.sub(lambda _: next(texts), row[0])))
    return merged


def _solved(solve, column, line):
    text = solve(column)
    if text is None:
        raise Differs(f"{line.strip()}: a number that is not solved")
    return text


def _place_as_range(line, merged):
    """A place in a list that follows from sizes, as that of the last layer, is from there to there."""
    if not _PLACE_OF_LINE.match(line) or _PLACE_OF_LINE.match(merged):
        return merged
    place, rest = merged.split(": ", 1)
    return f"{place}..{place.strip()}: {rest}"
