"""How many bytes a training asks for, as expressions of the sizes of its batches, found from steps and checked on steps.

An expression is a sum of a constant and one or two products of sizes, each perhaps rounded up as kernels pad them, or goes in steps.  It counts only if it
gives every trained step to the byte, and there was a step more than it has numbers to choose.
"""

import dataclasses
import fractions
import itertools
import math

ROUNDED_TO = (8, 16, 32, 64, 128)  # rows of attention's tiles and of their statistics
MOST_CHOICES = 64  # of a stride


class Solved:
    """What every kind of allocation asks for: its number among those of all stretches (merged.py)."""

    def __init__(self, samples):
        """`samples`: [(sizes of a step's batches, {kind: bytes})]."""
        self.variables, self.in_steps = _variables([sizes for sizes, _ in samples]), []
        columns = {}
        for i, (_, allocations) in enumerate(samples):
            for kind, size in allocations.items():
                columns.setdefault(kind, []).append((i, size))
        self.expressions = {}
        self._solve([sizes for sizes, _ in samples], columns)
        if (coarsest := min((one for one in self.expressions.values() if isinstance(one, _Steps) and one.unit), key=lambda one: one.most, default=None)) is not None:
            self.in_steps = [coarsest]  # a length that others follow from: that of an encoder's output
            self._solve([sizes for sizes, _ in samples], {kind: found for kind, found in columns.items() if kind not in self.expressions})

    def _solve(self, all_sizes, columns):
        points, by_samples = [self._point(sizes) for sizes in all_sizes], {}  # numbers of the samples that have a kind → {its bytes in them: kinds}
        for kind, found in columns.items():
            samples, column = zip(*found)
            by_samples.setdefault(samples, {}).setdefault(column, []).append(kind)
        for samples, kinds in by_samples.items():
            if any(None in points[i] for i in samples):
                continue
            for column, expression in _solve([points[i] for i in samples], kinds.keys()).items():
                self.expressions.update(dict.fromkeys(kinds[column], expression))

    def of(self, sizes, kinds):
        """The bytes of a stretch's allocations; None for each of which they are not known."""
        point, values, found = self._point(sizes), {}, []
        for kind in kinds:
            expression = self.expressions.get(kind)
            if expression is not None and id(expression) not in values:
                values[id(expression)] = expression(point)
            found.append(values.get(id(expression)))
        return found

    def _point(self, sizes):
        plain = [sizes.get(name, 0) for name in self.variables]
        return plain + [None if (value := steps(plain)) is None else value // steps.unit for steps in self.in_steps]


def _variables(all_sizes):
    """Names of the sizes that differ, one for all that always agree."""
    columns = {}
    for name in sorted(set().union(*all_sizes)):
        column = tuple(sizes.get(name, 0) for sizes in all_sizes)
        if len(set(column)) > 1:
            columns.setdefault(column, name)
    return list(columns.values())


def _solve(points, columns):
    """{column: the function of a point that gives it}, of those that are found."""
    found = {column: (lambda point, size=column[0]: size) for column in columns if len(set(column)) == 1}
    for terms in _candidates(len(points[0])):
        left = [column for column in columns if column not in found]
        if not left:
            break
        rows = [[term(point) for term in terms] for point in points]
        basis, inverse = _basis(rows)
        if inverse is None or len({tuple(row) for row in rows}) <= len(terms):
            continue
        for column in left:
            numbers = [sum(part * column[i] for part, i in zip(line, basis)) for line in inverse]
            if all(sum(number * size for number, size in zip(numbers, row)) == value for row, value in zip(rows, column)):
                found[column] = _sum_of(numbers, terms)
    for column in columns:
        steps = (_in_steps(points, i, column) for i in range(len(points[0])) if column not in found)
        found.update({column: one for one in steps if one is not None})
    return found


def _sum_of(numbers, terms):
    def value(point):
        try:
            return int(sum(number * term(point) for number, term in zip(numbers, terms)))
        except TypeError:  # of a size that is not known
            return None

    return value


def _candidates(variables):
    """Lists of terms, the simplest first."""
    plain = [_size(i) for i in range(variables)]
    rounded = [_rounded(i, to) for i in range(variables) for to in ROUNDED_TO]
    products = [_product(a, b) for a, b in itertools.combinations_with_replacement(plain, 2)]
    padded = [_product(_size(i), _rounded(i, to)) for i in range(variables) for to in ROUNDED_TO]
    yield from ([_one, term] for term in plain + products + rounded + padded)
    yield from ([_one, *pair] for pair in itertools.combinations(plain + products, 2))


def _one(point):
    return 1


def _size(i):
    return lambda point: point[i]


def _rounded(i, to):
    return lambda point: -(-point[i] // to) * to


def _product(a, b):
    return lambda point: a(point) * b(point)


def _basis(rows):
    """(Numbers of the first rows that are independent, the inverse of their matrix); (…, None) if they are too few."""
    width = len(rows[0])
    basis, reduced = [], []
    for i, row in enumerate(rows):
        rest = [fractions.Fraction(value) for value in row] + [fractions.Fraction(int(len(basis) == j)) for j in range(width)]
        for column, pivot in reduced:
            rest = [a - rest[column] * b for a, b in zip(rest, pivot)]
        column = next((j for j in range(width) if rest[j]), None)
        if column is not None:
            pivot = [value / rest[column] for value in rest]
            reduced = [(c, [a - other[column] * b for a, b in zip(other, pivot)]) for c, other in reduced] + [(column, pivot)]
            basis.append(i)
        if len(basis) == width:
            return basis, [pivot[width:] for _, pivot in sorted(reduced)]
    return basis, None


def _in_steps(points, i, column):
    """Of values that rise by one amount after every so many of size `i`, as the length of a convolution's result does: a * floor((size + c) / m) + b.
    Steps leave c, and perhaps m, some choice: the value is known where every choice gives the same."""
    pairs = sorted(set(zip((point[i] for point in points), column)))
    low = pairs[0][1]
    rise = math.gcd(*(value - low for _, value in pairs))
    if len(pairs) < 4 or rise == 0 or any(b[0] == a[0] or b[1] < a[1] for a, b in zip(pairs, pairs[1:])):
        return None
    counted = [(size, (value - low) // rise) for size, value in pairs]
    spans = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.combinations(counted, 2)]
    shortest = max(size // (steps + 1) + 1 for size, steps in spans)
    longest = min(((size - 1) // (steps - 1) for size, steps in spans if steps > 1), default=shortest + MOST_CHOICES)
    choices = []
    for m in range(shortest, longest + 1) if longest - shortest < MOST_CHOICES else ():
        first, last = max(steps * m - size for size, steps in counted), min((steps + 1) * m - size - 1 for size, steps in counted)
        choices += [(m, first), (m, last)] if first <= last else []

    return _Steps(i, rise, low, choices, counted[-1][1]) if choices else None


@dataclasses.dataclass(frozen=True)
class _Steps:
    i: int  # which size
    rise: int
    low: int
    choices: list  # (m, c) …
    most: int  # how many steps there were

    @property
    def unit(self):
        """What one more costs, if the whole is so many times that; else 0."""
        return self.rise if self.low % self.rise == 0 else 0

    def __call__(self, point):
        values = {self.rise * ((point[self.i] + c) // m) + self.low for m, c in self.choices}
        return values.pop() if len(values) == 1 else None
