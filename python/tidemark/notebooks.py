"""The code of a Jupyter notebook as one Python program."""

from __future__ import annotations

import json
from pathlib import Path


def code_of(path):
    """All code cells in order.  What only IPython understands is left as a comment, so every cell keeps its lines."""
    try:
        cells = json.loads(Path(path).read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError(f"{path} is not a notebook (nbformat 4)") from None
    return "\n\n".join(f"# cell {number}\n{_plain_python(text)}" for number, text in enumerate(code, 1)) + "\n"


def _plain_python(cell):
    lines = cell.splitlines()
    if lines and lines[0].startswith("%%"):  # a whole cell in another language, or timed
        timed = lines[0].split()[0] in ("%%time", "%%timeit", "%%capture")
        return "\n".join(["# " + lines[0], *(lines[1:] if timed else ("# " + line for line in lines[1:]))])
    return "\n".join(_plain_line(line) for line in lines)


def _plain_line(line):
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    if text.startswith(("%", "!", "?")) or (text.endswith("?") and not text.startswith("#")):
        return f"{indent}pass  # {text}"
    return line
