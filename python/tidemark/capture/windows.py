"""Windows within which images of any size attend: at the right and lower edge they are smaller (transformers 5.23.0: vision_utils.py, get_vision_window_index).

What is done for each window is rounds (rows.py), in which a number may be how many patches the window of that round has.
"""

from typing import NamedTuple

from .keys import at, is_whole

_NAME = "window_size"


class Windows(NamedTuple):
    """`side`: patches of a whole one; `down` and `across`: of an image."""

    side: int
    down: int
    across: int
    images: int

    def rounds(self):
        return self.images * self._rows() * self._columns()

    def lengths(self):
        return tuple(min(self.side, self.down - self.side * (k // self._columns() % self._rows())) * min(self.side, self.across - self.side * (k % self._columns())) for k in range(self.rounds()))

    def _rows(self):
        return -(-self.down // self.side)

    def _columns(self):
        return -(-self.across // self.side)

    def length(self, values, first, index="i"):
        """How these numbers of patches follow from the round, the first of which is this; None where they do not."""
        lengths, rounds = self.lengths(), len(values)
        if len(set(lengths)) == 1:
            return None  # these could be any number
        at = next((k for k in range(len(lengths) - rounds + 1) if lengths[k : k + rounds] == tuple(values)), None)
        if at is None:
            return None
        window = index if at == first else f"({index} + {at - first})" if at > first else f"({index} - {first - at})"
        side, rows, columns = self.side, f"ceildiv(grid_h, {self.side})", f"ceildiv(grid_w, {self.side})"
        return f"min({side}, grid_h - {side}*({window}//{columns} % {rows}))*min({side}, grid_w - {side}*({window} % {columns}))"

    @staticmethod
    def counted(statement):
        return statement  # the solver finds how many there are

    @staticmethod
    def are_of_others(values, first):
        return False  # what is done for a window is told apart from what is done for the next


def windows_of(keys, sizes):
    """The windows of images of any size, by the configuration of the tower; None where there are none."""
    if not {"grid_h", "grid_w", "images"} <= set(sizes):
        return None
    for part in (keys, *(value for value in keys.values() if isinstance(value, dict))):
        window, patch = at(part, _NAME), at(part, "patch_size")
        if is_whole(window) and is_whole(patch) and patch > 0 and window // patch > 1:
            return Windows(window // patch, sizes["grid_h"], sizes["grid_w"], sizes["images"])
    return None


def names_of(windows):
    """{expression: its numbers} of several captures, from which others may be made: windows down and across, with those that only fill up, and what is over of the last."""
    if None in windows or len({w.side for w in windows}) != 1:
        return {}
    side, names = windows[0].side, {}
    for name, sides in (("grid_h", [w.down for w in windows]), ("grid_w", [w.across for w in windows])):
        names |= {f"ceildiv({name}, {side})": tuple(-(-n // side) for n in sides), f"({name}//{side} + 1)": tuple(n // side + 1 for n in sides), f"({name} % {side})": tuple(n % side for n in sides)}
    return {text: column for text, column in names.items() if len(set(column)) > 1}
