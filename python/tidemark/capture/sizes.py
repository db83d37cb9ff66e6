"""Integers of several captures as one expression in named sizes, exactly.

`Solver(points)` is given what the names were worth in each capture.  The last point is not used to find an expression, only to check it.
"""

import itertools
from fractions import Fraction

_CHUNKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Solver:
    def __init__(self, points):
        self.points, self.solved = points, {}
        names = [n for n in points[0] if len({p[n] for p in points}) > 1]
        self.products = {"1": self._column(lambda p: 1)}
        for degree in (1, 2, 3):
            for chosen in itertools.combinations_with_replacement(names, degree):
                if degree == 3 and len(set(chosen)) == 3:
                    continue
                values = self.products["1"]
                for name in chosen:
                    values = tuple(v * p[name] for v, p in zip(values, points))
                self.products["*".join(chosen)] = values
        self.names = names

    def _column(self, of):
        return tuple(of(p) for p in self.points)

    def __call__(self, values):
        """The expression, or None where none of those that are tried holds at every point."""
        if values not in self.solved:
            self.solved[values] = self._solve(values)
        return self.solved[values]

    def _solve(self, values):
        if len(set(values)) == 1:
            return str(values[0])
        for attempt in (self._one_term, self._two_terms, self._chunks):
            for text, found in attempt(values):
                if found == values:
                    return text
        return None

    def _one_term(self, values):
        for text, column in self.products.items():
            if text != "1":
                factor = Fraction(values[0], column[0])
                yield _times(factor, text), tuple(_whole(factor * c) for c in column)

    def _two_terms(self, values):
        """Simplest first: whole coefficients, low degree."""
        found = []
        for (f, xs), (g, zs) in itertools.combinations(self.products.items(), 2):
            determinant = xs[0] * zs[1] - xs[1] * zs[0]
            if not determinant:
                continue
            a = Fraction(values[0] * zs[1] - values[1] * zs[0], determinant)
            b = Fraction(xs[0] * values[1] - xs[1] * values[0], determinant)
            column = tuple(_whole(a * x + b * z) for x, z in zip(xs, zs))
            if a and b and column == values:
                found.append((a.denominator * b.denominator, f.count("*") + g.count("*"), abs(a) + abs(b), _sum(_times(b, g), _times(a, f)), column))
        for *_, text, column in sorted(found)[:1]:
            yield text, column

    def _chunks(self, values):
        """Lengths in chunks of a power of two, and what fills the last one."""
        for name, chunk in itertools.product(self.names, _CHUNKS):
            up = self._column(lambda p: -(-p[name] // chunk))
            rest = self._column(lambda p: -p[name] % chunk)
            for text, column in ((f"ceildiv({name}, {chunk})", up), (f"-{name} % {chunk}", rest), (f"{name}//{chunk}", self._column(lambda p: p[name] // chunk))):
                yield _sum(text, str(values[0] - column[0])), tuple(c + values[0] - column[0] for c in column)
                for other in self.names + ["1"]:
                    scale = self.products[other]
                    if column[0]:
                        factor = Fraction(values[0], column[0] * scale[0])
                        yield _times(factor, text if other == "1" else f"{other}*{text}"), tuple(_whole(factor * c * s) for c, s in zip(column, scale))


def _whole(fraction):
    return int(fraction) if fraction == int(fraction) else None


def _times(factor, text):
    if text == "1":
        return str(factor.numerator) if factor.denominator == 1 else f"{factor.numerator}//{factor.denominator}"
    top = "" if factor.numerator == 1 else "-" if factor.numerator == -1 else f"{factor.numerator}*"
    return f"{top}{text}" + (f"//{factor.denominator}" if factor.denominator != 1 else "")


def _sum(a, b):
    if b == "0":
        return a
    return f"{a} - {b[1:]}" if b.startswith("-") else f"{a} + {b}"
