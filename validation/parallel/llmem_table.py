"""LLMem's models by its methods on V100-16GB: real `tidemark run`s of train_llmem.py, rank 0, until one batch fits and the next does not.

    PYTHONPATH=…/llmem TIDEMARK_PYTHON=…/bin/python python validation/parallel/llmem_table.py validation/parallel/llmem.jsonl

Rank 0 holds as much as any other.  A run that does not fit is a row like any other; of one that may fit, or may not, `fits` is null, and where batches are
searched it counts as one that does not.  llmem_score.py says what agrees with the paper, llmem_choices.py what a plan would choose."""

import json
import sys
import tempfile
from pathlib import Path

from cells import PYTHON, ROOT, rows_in, run_cell
from llmem_models import CHOICES, METHODS, MODELS, ON_FOUR, ONE_GPU_MB

CARD = "v100-16gb"


def cell(model, method, batch=1):
    return {"model": model, "method": method, "batch": batch, "seq": 512}


def largest(model, method, row_of):
    """The largest batch that fits, 0 for none: doubled while it fits, then halved between."""
    least, most = 0, 1
    while row_of(cell(model, method, most))["fits"]:
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        if row_of(cell(model, method, middle))["fits"]:
            least = middle
        else:
            most = middle
    return least


def card():
    cards = json.loads((ROOT / "data/gpus.json").read_text())["cards"]
    return next(card for card in cards if card["key"] == CARD)


def run(cell):
    ranks, tp = METHODS[cell["method"]]
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps(MODELS[cell["model"]]))
        program = [PYTHON, ROOT / "validation/parallel/train_llmem.py", config, "--batch", cell["batch"], "--seq", cell["seq"], "--tp", tp]
        return run_cell(program, ranks, gpu=CARD, memory=card()["total_bytes"], outcome=True)


def main():
    row_of = rows_in(Path(sys.argv[1]), run)
    for model in ONE_GPU_MB:
        row_of(cell(model, "1"))
    for model in CHOICES:
        for method in ON_FOUR:
            largest(model, method, row_of)


if __name__ == "__main__":
    main()
