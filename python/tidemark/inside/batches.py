"""Whether a training's batches vary: shapes of the tensors that its outermost modules are called with, step by step.

A peak that has settled says nothing of a longer sequence that is still to come; who stops early must say so.
"""

from collections.abc import Mapping


class Batches:
    def __init__(self):
        self.in_this_step = {}   # name of an input → its shapes, in order
        self.in_steps = {}       # name of an input → {its shapes of one step}

    def note(self, args, kwargs):
        """The arguments of a call, of which nothing is kept but shapes."""
        for i, value in enumerate(args):
            self._note(f"input {i}", value)
        for name, value in kwargs.items():
            self._note(name, value)

    def _note(self, name, value, depth=0):
        import torch

        if type(value) is torch.Tensor:   # a subclass may compute its shape
            self.in_this_step.setdefault(name, []).append(tuple(value.shape))
        elif isinstance(value, Mapping) and depth < 2:
            for key, item in value.items():
                self._note(str(key), item, depth + 1)
        elif type(value) in (list, tuple) and depth < 2:
            for item in value:
                self._note(name, item, depth + 1)

    def step_ended(self):
        for name, shapes in self.in_this_step.items():
            self.in_steps.setdefault(name, set()).add(tuple(shapes))
        self.in_this_step = {}

    def varying(self):
        """One row for each input that did not have the same shapes in every step."""
        rows = []
        for name, steps in self.in_steps.items():
            if len(steps) > 1:
                shapes = sorted({shape for step in steps for shape in step}, key=lambda shape: (_elements(shape), shape))
                rows.append({"name": name, "shapes": len(shapes), "smallest": list(shapes[0]), "largest": list(shapes[-1])})
        return rows


def _elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


batches = Batches()
