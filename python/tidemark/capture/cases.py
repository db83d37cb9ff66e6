"""The ways in which a model is made to run, and the cases that its sizes make: each has a main body of its own."""

from typing import NamedTuple

from .keys import written


class Way(NamedTuple):
    """How a model is made to run."""

    attention: str
    cache: object   # None where a model has none
    positions: bool = False   # whether the batch brings them

    def conditions(self):
        return [f"attention == {written(self.attention)}", *([f"cache == {written(self.cache)}"] if self.cache is not None else []), *(["positions == true"] if self.positions else [])]


class Case(NamedTuple):
    """What sizes are to each other: the conditions, the keys of a configuration for which they hold, and how many tokens of about so many."""

    conditions: tuple
    keys: object = lambda keys: keys
    tokens: object = lambda tokens, keys: tokens
    grid: object = lambda grid: grid
    images: object = lambda images: images   # of a sample

    def and_also(self, other):
        return Case(self.conditions + other.conditions, lambda keys: other.keys(self.keys(keys)), lambda tokens, keys: other.tokens(self.tokens(tokens, keys), keys), lambda grid: other.grid(self.grid(grid)), lambda images: other.images(self.images(images)))

    def sizes(self, sizes, keys):
        samples, tokens, images, *grid = sizes
        return (samples, self.tokens(tokens, keys), self.images(images), *self.grid(grid))


ANY = Case(())
