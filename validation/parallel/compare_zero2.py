"""Puts every recorded cell of zero2_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_zero2.py validation/parallel/zero2_llava.jsonl

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %.
"""

import argparse
import json
import sys
from pathlib import Path

from comparing import ROOT, answered, compare

MODEL = json.loads((ROOT / "bench/llava.json").read_text())["model"]
TRAINED = {"pretrain": {"train_only": ["multi_modal_projector"]}, "finetune": {"freeze": ["vision_tower"]}, "full": {}}


def spec_of(cell):
    """What `tidemark predict` is asked for a cell: the program of examples/deepspeed_llava.py."""
    checkpointing = "non_reentrant" if cell["checkpointing"] else "none"
    return {"model": MODEL, "batch": cell["batch"], "seq": cell["sequence"], "images": 1, "checkpointing": checkpointing, "gpus": cell["ranks"], "parallel": "zero2", **TRAINED[cell["stage"]]}


def predicted(cell):
    return answered(cell, spec_of(cell))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    return compare([json.loads(line) for line in parser.parse_args().rows.read_text().splitlines()], predicted)


if __name__ == "__main__":
    sys.exit(main())
