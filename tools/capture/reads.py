"""Writes again, in programs of families, which keys of a configuration transformers reads: the lines `reads` of docs/reference/programs.md.

tidemark run --gpu h200 -- python tools/capture/reads.py data/programs/5.23.0    with that release of transformers; on the virtual GPU since its torch wants CUDA's libraries
"""

import pathlib
import sys

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tidemark.capture.config_keys import lines


def with_reads(text, reads):
    """The text of a program, its lines `reads` in the place where the recorder puts them: before the first key."""
    rows = [row for row in text.splitlines(keepends=True) if not row.startswith("reads ")]
    first = next(number for number, row in enumerate(rows) if row.startswith(("key ", "modules ")))
    return "".join([*rows[:first], *(f"reads {line}\n" for line in reads), *rows[first:]])


def main(folder):
    folder = pathlib.Path(folder)
    if folder.name != transformers.__version__:
        sys.exit(f"{folder} is of another release than this Python's transformers {transformers.__version__}")
    for path in sorted(folder.iterdir()):
        path.write_text(with_reads(path.read_text(), lines(CONFIG_MAPPING[path.name])))


if __name__ == "__main__":
    main(*sys.argv[1:])
