"""What is done for each image once: a list of as many values as there are images is a row, and statements that come again for each of them are one block.

    %1: T[4] view, %2: T[4] view, … = torch.Tensor.unbind(%0, 0)     %1[0..images - 1]: T[4] view = torch.Tensor.unbind(%0, 0)
    %4: T[4] = torch.Tensor.neg(%1)                                  each i in 0..images - 1:
    %5: T[4] = torch.Tensor.neg(%2)                                    %4[i]: T[4] = torch.Tensor.neg(%1[i])
    …                                                                …
    %9: T[12] = torch.cat([%4, %5, …])                               %9: T[12] = torch.cat([%4[0..images - 1]])

So are layers whose outputs are all kept, or which are one module: those do not go on evenly, as a `repeat` does (folding.py).  A reader that knows how many there are
writes it out again (src/program/rows.cpp).  Rounds at either end may be done otherwise than those between.

What is done for each image of each sample is such rounds within rounds: those of images are found first, and are then statements like others.  Rows are then made in each
round of the samples, and `%4[j][i]` is the place of one in the row of a row.
"""

import re
from typing import Any, NamedTuple

from .floats import any_float
from .folding import runs_of
from .merging import AnySize, Differs
from .statements import Statement
from .terms import DtypeFrom, Each, Element, Linear, Listed, Number, Ref, Slice, Span, Typed

FEWEST = 5  # of which a row is told from other things that come a few times
_IRREGULAR = 2  # rounds at the ends
_AHEAD = 2  # values that are not of the list: the last hidden state once more, and what the first layer is given (transformers 5.17.0: models/siglip)
_WIDEST = 4  # values of a tuple
_LONGEST = 240  # statements of a round
_PLACE = re.compile(r"(?<=\.)\d+(?=\.|$)")
_LISTED = re.compile(r"\.\d+$")


class Uneven:
    """Rounds whose sizes may be told, those of images' windows (windows.py) and of experts (experts.py), and the bodies that they call."""

    def __init__(self, *rounds):
        self.rounds, self.bodies = [one for one in rounds if one], AnySize()

    def are_so_many(self, count):
        return any(one.rounds() == count for one in self.rounds)

    def length(self, values, first, index="i"):
        return next(filter(None, (one.length(values, first, index) for one in self.rounds)), None)

    def are_of_others(self, values, first):
        """Whether they are those of the rounds before or behind, as of statements that are not of one round they may be: alike by chance, and then no number of their own."""
        return any(one.are_of_others(values, first) for one in self.rounds)

    def counted(self, statement):
        """Places that follow from how many rounds there are, where data decides that."""
        for one in self.rounds:
            statement = one.counted(statement)
        return statement

    def body(self, bodies):
        """The body for all rounds; None where they differ in more than sizes."""
        if len(set(map(id, bodies))) == 1:
            return bodies[0]
        try:
            return self.bodies.body(tuple(bodies))
        except Differs:
            return None


class Row(NamedTuple):
    """Named by the first value in it."""

    value: Any
    tag: str = "row"


def in_rows(statements, counts, outer=(), uneven=None):
    """The statements with what is done as often as one of the counts says once; `outer`: how often what has such rounds in it may be done; `uneven`: rounds whose sizes may be told."""
    counts, outer = ([n for n in of if n >= FEWEST] for of in (counts, outer))
    if counts:
        statements = _Rows(statements, counts, uneven=uneven).all()
    return _Rows(statements, outer, "j").all() if outer and any(s.kind == "each" for s in statements) else statements


class _Rows:
    def __init__(self, statements, counts, index="i", uneven=None):
        self.index, self.uneven = index, uneven or Uneven()  # of a round
        self.statements, self.counts = [one for statement in statements for one in _single(statement)], counts
        self.elements = {}  # {value: (row, its place)}

    def accepts(self, rounds):
        return any(n - _IRREGULAR <= rounds <= n + 1 for n in self.counts)

    def all(self):
        for statement in self.statements:
            for group in [statement.results] if self._unevenly(statement.results) else _alike(statement.results):
                for row in self._rows_of(group) if statement.kind in ("op", "call") else ():
                    self.elements.update({r.ref: (Row(row[0].ref), k) for k, r in enumerate(row)})
        numbers = {}
        out, at, shapes = [], 0, [numbers.setdefault(_shape(s, bool(self.uneven.rounds)), len(numbers)) for s in self.statements]
        while at < len(self.statements):
            period, rounds = self._run(shapes, at)
            block = self._block(at, period, rounds) if period else None
            if block is None:
                out.append(self.statements[at])
                at += 1
            else:
                out.append(block)
                at += period * rounds
        return [self.uneven.counted(self._outside(s)) for s in _joined(out)]

    def _rows_of(self, group):
        """The values that are alike as a row, or as several of as many values each: a module may return more than one list, and a list with what is ahead of it."""
        count = len(group) if self.accepts(len(group)) or len(group) - _AHEAD in self.counts else next((n for n in self.counts if len(group) % n == 0), 0)
        return [group[at : at + count] for at in range(0, len(group), count)] if count else []

    def _run(self, shapes, at):
        """(statements of a round, rounds) of what begins here; zeros where it does not come as often as there are images."""
        if self.statements[at].kind not in ("op", "call"):
            return 0, 0
        for period, rounds in runs_of(shapes, at, _LONGEST):
            if self.accepts(rounds) and (self.index == "i" or any(s.kind == "each" for s in self.statements[at : at + period])):
                return period, rounds
        return 0, 0

    def _block(self, at, period, rounds):
        """The statement for all rounds; None where they are not alike."""
        blocks = [self.statements[at + k * period : at + (k + 1) * period] for k in range(rounds)]
        made = {}
        for k, block in enumerate(blocks):
            for place, ref in _made(block):
                made.setdefault(ref, (place, k))
        rows = {made[ref][0]: Row(ref) for _, ref in _made(blocks[0])}
        places = {place: [ref for ref, (p, _) in made.items() if p == place] for place in rows}
        if any(len(refs) != rounds for refs in places.values()):
            return None
        columns = list(zip(*(list(_walk(block)) for block in blocks)))
        first = int(any(isinstance(c[0], _VALUES) and c[0] not in made and c[1] in made for c in columns))  # there is one before it
        before = {}  # what a round finds of the one before: {row: its value ahead of the first round}
        terms = [self._same(column, made, rows, before, first) for column in columns]
        names = [_path([s.name for s in column], first, self.index) if column[0].kind == "call" else column[0].name for column in zip(*blocks)]
        bodies = [column[0].body and self.uneven.body([s.body for s in column]) for column in zip(*blocks)]
        if any(t is None for t in [*terms, *names]) or any(s.body and not body for s, body in zip(blocks[0], bodies)):
            return None
        for place, refs in places.items():
            self.elements.update({ref: (rows[place], first + k) for k, ref in enumerate(refs)})
        for row, value in before.items():
            self.elements.setdefault(value, (row, first - 1))
        told = iter(terms)
        written = tuple(_rewritten(s, told)._replace(name=name, body=body) for s, name, body in zip(blocks[0], names, bodies))
        return Statement("each", name=Number(first, False), block=tuple(_joined(written)), count=Number(first + rounds - 1, False))

    def _same(self, column, made, rows, before, first):
        """The term that stands for those of all rounds; None where there is none."""
        one = column[0]
        if isinstance(one, Number):
            return self._number([t.value for t in column], one.is_size, first)
        if not isinstance(one, _VALUES):
            return one if len(set(map(any_float, column))) == 1 else None
        origins = [made.get(t) for t in column]
        if all(o is not None and o[1] == k and o[0] == origins[0][0] for k, o in enumerate(origins)):
            return Element(rows[origins[0][0]], self.index)
        later = origins[1:]
        if all(o is not None and o[1] == k and o[0] == later[0][0] for k, o in enumerate(later)) and one not in made:
            row = rows[later[0][0]]
            if before.setdefault(row, one) != one or self.elements.get(one, (row, first - 1)) != (row, first - 1):
                return None
            return Element(row, f"{self.index} - 1")
        if all(t == one for t in column):
            return one
        known = [self.elements.get(t) for t in column]
        if None in known or len({row for row, _ in known}) != 1 or len({at - k for k, (_, at) in enumerate(known)}) != 1:
            return None
        return Element(known[0][0], Linear(Number(1, False), Number(known[0][1] - first, False), self.index))

    def _number(self, values, is_size, first, index=None):
        """The number of each round, by its place."""
        index = index or self.index
        told = self.uneven.length(values, first, index)
        return told or (None if self.uneven.are_of_others(values, first) else _linear(values, is_size, first, index))

    def _unevenly(self, results):
        """The sizes of results that are alike but for how much each round has; None of others."""
        if not self.uneven.are_so_many(len(results)) or not all(isinstance(r, Typed) for r in results) or len({(r.dtype, r.flags, len(r.sizes)) for r in results}) != 1:
            return None
        columns = [[size.value if isinstance(size, Number) else size for size in column] for column in zip(*(r.sizes for r in results))]
        sizes = [results[0].sizes[k] if len(set(column)) == 1 else self.uneven.length(column, 0) for k, column in enumerate(columns)]
        return tuple(sizes) if None not in sizes and tuple(sizes) != results[0].sizes else None

    def _outside(self, statement):
        """Elements by their place in the row; those that follow each other as a span."""

        def named(term):
            found = self.elements.get(term) if isinstance(term, _VALUES) else None
            return Element(found[0], Number(found[1], False)) if found else term

        statement = self._with_lists(_replaced(statement, named))
        if statement.kind in ("del", "hold", "keep"):
            return statement._replace(args=tuple(("", t) for t in _spans(_zipped([t for _, t in statement.args]))))
        if statement.kind == "return":
            return statement._replace(args=tuple(self._returned(statement.args)))
        if statement.kind in ("op", "call") and len(statement.results) > 1:
            sizes = self._unevenly(statement.results)
            if sizes:
                return statement._replace(results=(statement.results[0]._replace(ref=next(_spans(r.ref for r in statement.results)), sizes=sizes),))
            return statement._replace(results=tuple(_typed_spans(statement.results)))
        return statement

    def _with_lists(self, statement):
        """Lists among the arguments, with spans, and with numbers that are one for each."""

        def listed(term):
            if not isinstance(term, Listed):
                return term
            numbers = [t.value for t in term.items if isinstance(t, Number)]
            one = self._number(numbers, False, 0, "i") if len(numbers) == len(term.items) and len(numbers) > 1 and self.accepts(len(numbers)) else None
            return Listed((Each(one, Number(0, False), Number(len(numbers) - 1, False)),) if one else tuple(_spans(_zipped(list(map(listed, term.items))))))

        return statement._replace(args=tuple((key, listed(t)) for key, t in statement.args))

    def _returned(self, args):
        """What is returned as a list is under the list's name."""
        of = ["^0" if key.startswith("^") else _LISTED.sub("", key) for key, _ in args]  # what is hidden is told by its place alone
        lists = {name for name in of if name and self.accepts(of.count(name))}
        at = 0
        while at < len(args):
            name, end = of[at], at + 1
            while name in lists and end < len(args) and of[end] == name:
                end += 1
            if name in lists:
                yield from ((name, t) for t in _spans(t for _, t in args[at:end]))
            else:
                yield args[at]
            at = end


def _single(statement):
    """Each `del` by itself: the last round's goes on with what is done with after all of them."""
    return [statement._replace(args=(one,)) for one in statement.args] if statement.kind == "del" else [statement]


def _joined(statements):
    """What is deleted one after the other in one statement again."""
    joined = []
    for statement in statements:
        if joined and statement.kind == joined[-1].kind == "del":
            joined[-1] = joined[-1]._replace(args=joined[-1].args + statement.args)
        else:
            joined.append(statement)
    return joined


def _alike(results):
    """Groups of results that follow each other, new ones of one type."""
    group = []
    for result in [*results, None]:
        if isinstance(result, Typed) and isinstance(result.ref, Ref) and (not group or result[1:] == group[0][1:]):
            group.append(result)
            continue
        if len(group) > 1:
            yield group
        group = [result] if isinstance(result, Typed) and isinstance(result.ref, Ref) else []


def _typed_spans(results):
    """Elements that follow each other as one result."""
    at = 0
    while at < len(results):
        one, end = results[at], at + 1
        while isinstance(one, Typed) and end < len(results) and isinstance(results[end], Typed) and results[end][1:] == one[1:] and len(list(_spans(r.ref for r in results[at : end + 1]))) == 1:
            end += 1
        yield one if end == at + 1 else one._replace(ref=next(_spans(r.ref for r in results[at:end])))
        at = end


def _path(names, first, index):
    """The path of the module of each round; None where they do not go up evenly."""
    if len({_PLACE.sub("#", name) for name in names}) != 1:
        return None
    columns = [[int(n) for n in column] for column in zip(*(_PLACE.findall(name) for name in names))]
    if any(b - a != column[1] - column[0] for column in columns for a, b in zip(column, column[1:])):
        return None
    told = iter([str(c[0]) if c[0] == c[1] else "{" + (index if c[1] - c[0] == 1 else f"{c[1] - c[0]}*{index}") + _offset(c[0] - (c[1] - c[0]) * first) + "}" for c in columns])
    return _PLACE.sub(lambda _: next(told), names[0])


_VALUES = (Ref, Row)
_INDICES = ("i", "j", "i - 1", "j - 1")


def _offset(number):
    return "" if number == 0 else f" + {number}" if number > 0 else f" - {-number}"


def _zipped(terms):
    """Elements of several rows, place by place, as a span of all these rows: a list of tuples is done with."""
    at = 0
    while at < len(terms):
        rows, rounds, step = max(((rows, *_rounds_of(terms, at, rows)) for rows in _rows_at(terms, at)), key=lambda found: found[1], default=((), 0, 0))
        if rounds < FEWEST - _IRREGULAR:
            yield terms[at]
            at += 1
        else:
            first = terms[at].at
            yield Span(rows, first, Number(first.value + step * (rounds - 1), False))
            at += len(rows) * rounds


def _rows_at(terms, at):
    """The rows of two elements or more that begin here, of one place."""
    rows = []
    for term in terms[at : at + _WIDEST]:
        if not (isinstance(term, Element) and isinstance(term.at, Number) and term.at == terms[at].at and term.row not in rows):
            return
        rows.append(term.row)
        if len(rows) > 1:
            yield tuple(rows)


def _rounds_of(terms, at, rows):
    """(rounds, step) of elements of these rows that follow each other."""
    place, best = terms[at].at.value, (1, 1)
    for step in (1, -1):
        rounds = 1
        while terms[at + rounds * len(rows) : at + (rounds + 1) * len(rows)] == [Element(row, Number(place + step * rounds, False)) for row in rows]:
            rounds += 1
        best = max(best, (rounds, step))
    return best


def _spans(terms):
    run = []
    for term in [*terms, None]:
        if (
            run
            and isinstance(term, Element)
            and isinstance(term.at, Number)
            and term.row == run[0].row
            and abs(term.at.value - run[-1].at.value) == 1
            and (len(run) == 1 or term.at.value - run[-1].at.value == run[-1].at.value - run[-2].at.value)
        ):
            run.append(term)
            continue
        yield from run if len(run) < 2 else [Span(run[0].row, run[0].at, run[-1].at)]
        run = [term] if isinstance(term, Element) and isinstance(term.at, Number) else []
        if term is not None and not run:
            yield term


def _linear(values, is_size, first, index):
    step = values[1] - values[0]
    if any(b - a != step for a, b in zip(values, values[1:])):
        return None
    return Number(values[0], is_size) if step == 0 else Linear(Number(step, False), Number(values[0] - step * first, False), index)


def _shape(statement, by_name=False):
    """What must be equal in two rounds: all but values, floats and numbers; `by_name`: of what is called the name."""
    if statement.kind == "each":
        return ("each", statement.name, statement.count, tuple(_shape(s, by_name) for s in statement.block))
    if statement.kind not in ("op", "call", "del"):
        return id(statement)

    def plain(x):
        return tuple("%" if isinstance(t, _VALUES) else "#" if isinstance(t, Number) else any_float(t) for t in _terms_of(x))

    name = _PLACE.sub("#", statement.name) if statement.kind == "call" else statement.name
    return (
        statement.kind,
        name,
        tuple((type(r), plain(r), getattr(r, "flags", ())) for r in statement.results),
        tuple((k, type(t), plain(t)) for k, t in statement.args),
        statement.mark if statement.mark in ("host True", "host False") else statement.mark.partition(" ")[0],
        statement.body.name if by_name and statement.body else id(statement.body),
    )


def _made(block, place=()):
    """(where it is made, value or row)"""
    for i, statement in enumerate(block):
        for j, result in enumerate(statement.results):
            ref = result.ref if isinstance(result, Typed) else None
            ref = ref.row if isinstance(ref, (Element, Span)) else ref
            if isinstance(ref, _VALUES):
                yield (*place, i, j), ref
        yield from _made(statement.block, (*place, i))


def _walk(block):
    for statement in block:
        for x in (*statement.results, *(term for _, term in statement.args)):
            yield from _terms_of(x)
        yield from _walk(statement.block)


def _replaced(statement, change):
    """The statement with `change` done to each of its terms, in the order of `_walk`; those of elements too."""
    results = tuple([_changed(r, change) for r in statement.results])
    args = tuple([(k, _changed(t, change)) for k, t in statement.args])
    return statement._replace(results=results, args=args, block=tuple([_replaced(s, change) for s in statement.block]))


def _rewritten(statement, told):
    """The statement with the next of the told terms in the place of each of its own."""
    return _replaced(statement, lambda _: next(told))


def _terms_of(x):
    """The terms within, in the order in which `_changed` comes to them."""
    found = []
    _changed(x, lambda term: found.append(term) or term)
    return found


def _changed(x, change):
    """As terms.map_terms, and within what stands for several."""
    if isinstance(x, Listed):
        return Listed(tuple([_changed(e, change) for e in x.items]))
    if isinstance(x, Typed):
        return Typed(_changed(x.ref, change), change(x.dtype), tuple([_changed(s, change) for s in x.sizes]), x.flags)
    if isinstance(x, (Slice, DtypeFrom, Element, Span, Each, Linear)):
        return type(x)(*[_changed(part, change) for part in x])
    if type(x) is tuple:  # rows of a span
        return tuple([_changed(part, change) for part in x])
    return x if type(x) is str and x in _INDICES else change(x)
