"""For which lengths a program holds: some models do other things with texts longer than a window, a chunk, or what they were trained on.

Where that may be is told by the configuration's keys; whether it is, by captures on both sides.
"""

import re

_LENGTHS = re.compile(r"window|chunk|local|position|max_.*len|block_size")
_LONGEST = 4097  # what is captured to find out: masks are true integers, and grow with the square


def _lengths(keys):
    """The numbers of a configuration that may be compared with the length of a text."""
    for key, value in keys.items():
        if isinstance(value, dict):
            yield from _lengths(value)
        elif _LENGTHS.search(str(key)) and isinstance(value, int) and not isinstance(value, bool):
            yield value


def conditions(config, seq, is_alike, name="S"):
    """["S > 32", "S <= 64"]: the nearest bounds on both sides of a size; `is_alike(length)` captures a text of that length."""
    lengths = sorted({v for v in _lengths(config.to_dict()) if 4 <= v < _LONGEST})
    found = []
    for length in reversed([v for v in lengths if v <= seq]):
        below = next((f"{name} {sign} {length}" for n, sign in ((length, ">"), (length - 1, ">=")) if n < seq and not is_alike(n)), None)
        if below:
            found.append(below)
            break
    for length in [v for v in lengths if v >= seq]:
        above = next((f"{name} {sign} {length}" for n, sign in ((length, "<"), (length + 1, "<=")) if n > seq and not is_alike(n)), None)
        if above:
            found.append(above)
            break
    return found
