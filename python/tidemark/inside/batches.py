"""Whether a training's batches vary: shapes of the tensors that its outermost modules are called with, step by step.

A peak that has settled says nothing of a longer sequence that is still to come; who stops early must say so.
A step whose shapes were there before makes no list, tuple or dictionary here: CPython keeps such a one for the program's next (collector.py).
"""

from . import shapes


class Batches:
    def __init__(self):
        self.in_this_step = {}  # name of an input → its shapes, in order
        self.in_steps = {}  # name of an input → {its shapes of one step}
        self.shapes = {}  # every shape that was there → the first of its kind

    def note(self, args, kwargs):
        """The arguments of a call, of which nothing is kept but shapes."""
        position = 0
        for value in args:
            shapes.each(f"input {position}", value, self._see)
            position += 1
        for name in kwargs:
            shapes.each(name, kwargs[name], self._see)

    def _see(self, name, leaf):
        if not shapes.is_tensor(leaf):
            return
        shape, found = self.shapes.get(leaf.shape), self.in_this_step.get(name)
        if shape is None:
            shape = tuple(leaf.shape)
            self.shapes[shape] = shape
        if found is None:
            found = self.in_this_step[name] = []
        found.append(shape)

    def step_ended(self):
        for name, found in self.in_this_step.items():
            if found:
                self.in_steps.setdefault(name, set()).add(tuple(found))
                found.clear()

    def varying(self):
        """One row for each input that did not have the same shapes in every step."""
        rows = []
        for name, steps in self.in_steps.items():
            if len(steps) > 1:
                found = shapes.in_order({shape for step in steps for shape in step})
                rows.append({"name": name, "shapes": len(found), "smallest": list(found[0]), "largest": list(found[-1])})
        return rows


batches = Batches()
