"""Words, and files of them: what both kinds of stand-ins are made from."""

import json
from pathlib import Path

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


def words(draw, count):
    return " ".join("".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(count))


def length(draw, median, spread=0.8):
    """As texts are: many short ones, some much longer."""
    return max(4, min(int(draw.lognormvariate(0, spread) * median), 8 * median))


def write(folder, name, value):
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))


def write_rows(folder, name, rows):
    write(folder, name, "".join(json.dumps(row) + "\n" for row in rows))
