"""Whether a training's batches vary: shapes of the tensors that its outermost modules are called with, step by step.

A peak that has settled says nothing of a longer sequence that is still to come; who stops early must say so.
"""

from . import shapes


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

    def _note(self, name, value):
        for key, shape in shapes.tensors_in(name, value):
            self.in_this_step.setdefault(key, []).append(shape)

    def step_ended(self):
        for name, found in self.in_this_step.items():
            self.in_steps.setdefault(name, set()).add(tuple(found))
        self.in_this_step = {}

    def varying(self):
        """One row for each input that did not have the same shapes in every step."""
        rows = []
        for name, steps in self.in_steps.items():
            if len(steps) > 1:
                found = shapes.in_order({shape for step in steps for shape in step})
                rows.append({"name": name, "shapes": len(found), "smallest": list(found[0]), "largest": list(found[-1])})
        return rows


batches = Batches()
