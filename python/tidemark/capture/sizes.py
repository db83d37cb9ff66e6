"""Integers of several captures as one expression in named sizes, exactly.

`Solver(points)` is given what the names were worth in each capture: sizes of the batch and, of a family, keys of the configuration.  An expression is found by looking
up what is left of the numbers, up to a factor, among products of the names; it has to hold at every point, so that more points than it has terms check it.
"""

import itertools
import math
import re
from fractions import Fraction

_CHUNKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_FACTORS = (1, -1, 2, -2, 3, -3, 4, -4)
_LARGEST_FACTOR = 4096  # of a term of a sum; what is larger comes of chance
_MADE = 1.1  # cost of what is made of names
_LAYERS = re.compile(r"layers?$|depth$")
_MOST_TERMS = 60  # of which any two are looked at together


def _direction(column):
    """The column up to a factor, as whole numbers without a common divisor."""
    divisor = math.gcd(*column) * (1 if column[0] > 0 else -1)
    return tuple(v // divisor for v in column)


class Solver:
    """`periods`: after how many layers their kinds come again, which numbers of layers are divided by; `made`: {expression in names: its numbers}, of what others may be made of."""

    def __init__(self, points, periods=(), made=None):
        self.made, self.points, self.periods, self.solved, self.quotients, self.grown = made or {}, points, periods, {}, None, None
        self.columns = {n: tuple(p[n] for p in points) for n in points[0]}
        distinct = {}
        for name, column in self.columns.items():
            if len(set(column)) > 1:
                distinct.setdefault(column, name)
        self.name_of, self.names = distinct, list(distinct.values())
        self.simple, self.table = [], {}
        self._fill()

    def _fill(self):
        """Products of up to three names and quotients, by their direction; the simplest is kept."""
        atoms = [(name, 1, self.columns[name]) for name in self.names]
        atoms += [(text, _MADE, column) for text, column in self.made.items() if 0 not in column]
        self.simple += [(_MADE, text, column) for text, column in self.made.items() if 0 in column]
        for a, b in itertools.permutations(self.names, 2):
            over, under = self.columns[a], self.columns[b]
            if all(y and x % y == 0 for x, y in zip(over, under)):
                atoms.append((f"({a}//{b})", 1.75, tuple(x // y for x, y in zip(over, under))))
        for degree in (1, 2, 3):
            for chosen in itertools.combinations_with_replacement(atoms, degree):
                if degree == 3 and len(atoms) > 12 and sum(cost != 1 for _, cost, _ in chosen) == 1 and len({n for n, *_ in chosen}) == 3 and not {"grid_h", "grid_w"} <= {n for n, *_ in chosen}:
                    continue  # three different ones of many, a quotient among them: nobody's size, but for the patches of the images of each sample
                column = tuple(map(math.prod, zip(*(c for *_, c in chosen))))
                text = "*".join(n for n, *_ in chosen)
                self._add(text[1:-1] if degree == 1 and text[0] == "(" and text not in self.made else text, sum(cost for _, cost, _ in chosen), column)
        self.simple.sort(key=lambda entry: entry[0])

    def _add(self, text, cost, column):
        if 0 in column or len(set(column)) == 1:  # one number at all points is any other, up to a factor
            return
        entry = (cost, text, column)
        kept = self.table.setdefault(_direction(column), entry)
        if kept[0] > cost:
            self.table[_direction(column)] = entry
        if cost <= 3.5:
            self.simple.append(entry)

    def __call__(self, values):
        """The expression, or None where none of those that are tried holds at every point."""
        if values not in self.solved:
            self.solved[values] = self._solve(values)
        return self.solved[values]

    def _solve(self, values):
        if len(set(values)) == 1:
            return str(values[0])
        if len(values) < 3:
            return None  # two numbers are any expression's
        return (
            self.name_of.get(values)  # before a name times a number, whose factor may be too small a part
            or self._term(values)
            or self._quotient(values)
            or self._part_of_a_number(values)
            or self._rounds(values)
            or self._four_factors(values)
            or self._two_terms(values)
            or self._chunks(values)
            or self._divided(values)
            or self._merged(values)
            or self._compared(values)
            or self._three_terms(values)
            or self._with_a_number(values)
            or self._divided_times_a_name(values)
            or self._steps(values)
            or self._products_and_a_name(values)
        )

    def _term(self, values):
        found = self._match(values, largest=math.inf)  # nothing but a factor: of 1,601 patches of each of four tiles, 6,404
        return found and _times(found[1], found[2])

    def _match(self, values, largest=_LARGEST_FACTOR):
        """(cost, factor, text) of the product that the values are, up to a factor."""
        if 0 in values:
            return None
        entry = self.table.get(_direction(values))
        if entry is None:
            return None
        factor = Fraction(values[0], entry[2][0])
        return (entry[0] + _cost(factor), factor, entry[1]) if abs(factor.numerator) <= largest and factor.denominator <= 64 else None

    def _quotient(self, values):
        """A name over another that divides it, of the same part first: how often heads of keys are repeated is one of a few numbers, and a sum may happen to be these."""
        exact = [(a, b) for a, b in itertools.permutations(self.names, 2) if all(y and x == v * y for x, y, v in zip(self.columns[a], self.columns[b], values))]
        found = sorted(exact, key=lambda pair: (pair[0].rpartition(".")[0] != pair[1].rpartition(".")[0], pair))
        return "//".join(found[0]) if found else None

    def _part_of_a_number(self, values):
        """One number over a name: of a width that a program is held to, that of each head."""
        for name in self.names:
            products = {v * n for v, n in zip(values, self.columns[name])}
            if len(products) == 1 and 0 not in products:
                return f"{products.pop()}//{name}"
        return None

    def _rounds(self, values):
        """Whole rounds of layers, and a number, before any other sum: few numbers of rounds are many sums' by chance."""
        for name, period in itertools.product(filter(_LAYERS.search, self.names), self.periods):
            rounds = [layers // period for layers in self.columns[name]]
            if len(set(rounds)) > 1 and len({v - r for v, r in zip(values, rounds)}) == 1:
                return _sum(f"{name}//{period}", str(values[0] - rounds[0]))
        return None

    def _four_factors(self, values):
        """A name times a product, before any sum: few points are many sums' by chance."""
        return next((f"({factor})*({name})" for name, left in self._over_names(values) if (factor := self._term(left))), None)

    def _over_names(self, values):
        """(name, what is left of the values over it), of names that divide them all."""
        for name in self.names:
            column = self.columns[name]
            if 0 not in column and not any(v % n for v, n in zip(values, column)):
                yield name, tuple(v // n for v, n in zip(values, column))

    def _divided(self, values):
        """A product over a name that divides it without a rest, and none of its factors alone."""
        for name in self.names:
            found = self._match(tuple(v * n for v, n in zip(values, self.columns[name])))
            if found and name not in re.split(r"[*()/]+", found[2]):
                return f"({_times(found[1], found[2])})//{name}"
        return None

    def _divided_times_a_name(self, values):
        """The elements of what is laid out in rows of another width (transformers/models/voxtral: the tower's, four in a row)."""
        return next((f"{name}*({found})" for name, left in self._over_names(values) if (found := self._divided(left))), None)

    def _steps(self, values):
        """How many steps of one length a name has from some place on, as frames of a sound: `(S - 80)//320`.  Where the points tell which length, and from which place."""
        found = []
        for name in self.names:
            rows = sorted(zip(self.columns[name], values))
            pairs = [(n - m, v - w) for (m, w), (n, v) in itertools.combinations(rows, 2)]
            if any(v <= 1 for _, v in pairs) or rows[0][1] <= 0:
                continue
            least, most = max(n // (v + 1) for n, v in pairs), min(-(-n // (v - 1)) for n, v in pairs)
            for step in range(max(2, least), most + 1):
                starts = range(max(n - v * step - step + 1 for n, v in rows), min(n - v * step for n, v in rows) + 1)
                found += [f"({_sum(name, str(-start))})//{step}" if start else f"{name}//{step}" for start in starts]
        return found[0] if len(found) == 1 else None

    def _merged(self, values):
        """Patches of an image that are merged: a quotient of a quotient, or its square, times a product."""
        for text, column in self._quotients():
            found = self._from(text, column, values) or self._from(f"({text})*({text})", tuple(v * v for v in column), values)
            if found:
                return found
        return None

    def _quotients(self):
        """[(text, column)] of names that another divides, in whole rounds of a third."""
        if self.quotients is None:
            exact = ((a, b, tuple(x // y for x, y in zip(self.columns[a], self.columns[b]))) for a, b in itertools.permutations(self.names, 2) if all(y and x % y == 0 for x, y in zip(self.columns[a], self.columns[b])))
            self.quotients = [(f"({a}//{b})//{c}", tuple(x // y for x, y in zip(column, self.columns[c]))) for a, b, column in exact for c in self.names if c not in (a, b) and all(0 < y <= x for x, y in zip(column, self.columns[c]))]
        return self.quotients

    def _two_terms(self, values):
        """Simplest first: small factors, low degree."""
        found = []
        for cost, text, column in self.simple:
            for factor in _FACTORS:
                rest = tuple(v - factor * c for v, c in zip(values, column))
                if len(set(rest)) == 1:
                    found.append((cost + _cost(factor) + 0.5, _sum(_times(factor, text), str(rest[0]))))
                    continue
                match = self._match(rest)
                if match:
                    found.append((cost + _cost(factor) + match[0], _joined((factor, text), match[1:])))
        return min(found)[1] if found else None

    def _three_terms(self, values):
        simple = [entry for entry in self.simple if entry[0] <= 2][:_MOST_TERMS]
        found = []
        for (cost, text, column), (other_cost, other, others) in itertools.combinations(simple, 2):
            for factor, second in itertools.product((1, 2, -1), repeat=2):
                rest = tuple(v - factor * c - second * o for v, c, o in zip(values, column, others))
                match = (0, None, None) if len(set(rest)) == 1 else self._match(rest)
                if match:
                    last = str(rest[0]) if match[1] is None else _times(*match[1:])
                    found.append((cost + other_cost + match[0] + _cost(factor) + _cost(second), _sum(_joined((factor, text), (second, other)), last)))
        found = found or self._with_a_name(values)
        return min(found)[1] if found else None

    def _with_a_name(self, values):
        """[(cost, text)] of a product, a name and a number: as many as there are patches and registers, and one."""
        products, found = [entry for entry in self.simple if entry[0] > 2], []
        for name in self.names:
            without = tuple(v - n for v, n in zip(values, self.columns[name]))
            for cost, text, column in products:
                if len({v - c for v, c in zip(without, column)}) == 1:
                    found.append((cost, _sum(_joined((1, text), (1, name)), str(without[0] - column[0]))))
        return found

    def _products_and_a_name(self, values):
        """Two products and a name: what a projection makes for the heads of a state space at once (transformers 5.23.0: modeling_nemotron_h.py, projection_size)."""
        products, found = [entry for entry in self.simple if 1 < entry[0] <= 3], []
        for name in self.names:
            without = tuple(v - n for v, n in zip(values, self.columns[name]))
            for (cost, text, column), factor in itertools.product(products, (1, 2)):
                match = self._match(tuple(v - factor * c for v, c in zip(without, column)), largest=4)
                if match:
                    found.append((cost + match[0] + _cost(factor), _sum(_joined((factor, text), match[1:]), name)))
        return min(found)[1] if found else None

    def _with_a_number(self, values):
        """Any part of a product, a name and a number: the tokens that are left of a text beside those of an image.  Told by how both grow from the first point."""
        if self.grown is None:
            self.grown = {}
            for cost, text, column in sorted(self.simple):
                growth = tuple(c - column[0] for c in column)
                if any(growth):
                    self.grown.setdefault(_direction_of_growth(growth), (cost, text, column))
        found = []
        for name in (None, *self.names):
            rest = values if name is None else tuple(v - n for v, n in zip(values, self.columns[name]))
            growth = tuple(r - rest[0] for r in rest)
            entry = any(growth) and self.grown.get(_direction_of_growth(growth))
            if not entry:
                continue
            cost, text, column = entry
            factor = Fraction(*next((g, c - column[0]) for g, c in zip(growth, column) if g))
            number = rest[0] - factor * column[0]
            if number.denominator == 1 and factor.denominator <= 64 and all((factor * c).denominator == 1 for c in column):
                product = _sum(_times(factor, text), str(number)) if name is None else _sum(_joined((1, name), (factor, text)), str(number))
                found.append((cost + _cost(factor), product))
        return min(found)[1] if found else None

    def _chunks(self, values):
        """Names times a product; lengths in chunks of a power of two, or of another name, and what fills the last one."""
        names = [(n, self.columns[n]) for n in self.names]
        called = [(n, column) for n, column in names if n.endswith("chunk_size")]  # may be multiples of 32 at all points
        chunks = [*called, *((str(c), (c,) * len(values)) for c in (*self.periods, *_CHUNKS)), *names]
        for (chunk, sizes), (name, column) in itertools.product(chunks, names):
            if name == chunk or 0 in sizes:
                continue
            forms = (
                (f"ceildiv({name}, {chunk})", tuple(-(-v // c) for v, c in zip(column, sizes))),
                (f"-{name} % {chunk}", tuple(-v % c for v, c in zip(column, sizes))),
                (f"{name}//{chunk}", tuple(v // c for v, c in zip(column, sizes))),
                (f"{name} % {chunk}", tuple(v % c for v, c in zip(column, sizes))),
            )
            for text, form in forms:
                text = form != column and self._from(text, form, values)
                if text:
                    return text
        for (chunk, sizes), (name, column) in itertools.permutations(names, 2):  # two thirds of a width, filled up: transformers/models/lfm2, Lfm2MLP
            if 0 not in sizes:
                text = self._from(f"ceildiv(2*{name}//3, {chunk})", tuple(-(-(2 * v // 3) // c) for v, c in zip(column, sizes)), values)
                if text:
                    return text
        return None

    def _from(self, text, form, values):
        """The values as this form and a number, or times a number or a name."""
        if len(set(form)) == 1:
            return None
        if len({v - f for v, f in zip(values, form)}) == 1:
            return _sum(text, str(values[0] - form[0]))
        if 0 in form or any(v % f for v, f in zip(values, form)):
            return None
        quotients = tuple(v // f for v, f in zip(values, form))
        if len(set(quotients)) == 1:
            return f"{quotients[0]}*({text})"
        factor = self._term(quotients)
        return factor and f"({factor})*({text})"

    def _compared(self, values):
        """The smaller or larger of two, and by how much one is over another."""
        plain = [(text, column) for cost, text, column in self.simple if cost <= 2][:_MOST_TERMS]
        for (a, xs), (b, ys) in itertools.permutations(plain, 2):
            for text, form in ((f"min({a}, {b})", map(min, xs, ys)), (f"max({a}, {b})", map(max, xs, ys)), (f"max(0, {a} - {b})", (max(0, x - y) for x, y in zip(xs, ys)))):
                if tuple(form) == values:
                    return text
        return None


def _direction_of_growth(growth):
    """As `_direction`, of numbers that may be none."""
    divisor = math.gcd(*growth) * (1 if next(filter(None, growth)) > 0 else -1)
    return tuple(v // divisor for v in growth)


def _cost(factor):
    factor = Fraction(factor)
    return 0 if factor == 1 else 0.3 + 0.01 * min(abs(factor.numerator), 99) + (0.5 if factor.denominator != 1 else 0)


def _times(factor, text):
    factor = Fraction(factor)
    top = "" if factor.numerator == 1 else "-" if factor.numerator == -1 else f"{factor.numerator}*"
    return f"{top}{text}" + (f"//{factor.denominator}" if factor.denominator != 1 else "")


def _joined(first, second):
    """A sum that begins with what is added, if anything is."""
    (f, _), (g, _) = first, second
    first, second = (second, first) if f < 0 <= g else (first, second)
    return _sum(_times(*first), _times(*second))


def _sum(a, b):
    if b == "0":
        return a
    return f"{a} - {b[1:]}" if b.startswith("-") else f"{a} + {b}"
