"""LLMem's models by its methods on 1, 2 and 4 V100-16GB: real `tidemark run`s of train_llmem.py, rank 0, batch 1 and what TIGHT says.

    PYTHONPATH=…/llmem-colossalai python validation/parallel/llmem_table.py validation/parallel/llmem.jsonl

Rank 0 holds as much as any other.  A run that does not fit is a row like any other; llmem_score.py says what agrees with the paper."""

import json
import tempfile
from pathlib import Path

from llmem_models import CHOICES, METHODS, MODELS, ONE_GPU_MB
from cells import PYTHON, ROOT, cells_to, run_cell

CARD = "v100-16gb"
# OOM there, and here they fit at batch 1: again with less memory, as if NCCL had taken it, and with larger batches.
TIGHT = (("facebook/opt-2.7b", "4DP"), ("bigscience/bloom-3b", "2DP+2TP"))
TAKEN_MIB = (256, 1024)
BATCHES = (2, 8)


def cells():
    """What the paper has a figure for first."""
    yield from every(CHOICES, ("4DP", "2DP+2TP", "4TP"))
    for taken in TAKEN_MIB:
        yield from ({**cell(*place), "taken_mib": taken} for place in TIGHT)
    yield from (cell(*place, batch) for batch in BATCHES for place in TIGHT)
    yield from every(ONE_GPU_MB, ("1",))
    yield from every(CHOICES, ("2DP", "2TP"))
    yield from every(MODELS, METHODS)


def every(models, methods):
    return (cell(model, method) for model in models for method in methods)


def cell(model, method, batch=1):
    return {"model": model, "method": method, "batch": batch, "seq": 512}


def memory(cell):
    cards = json.loads((ROOT / "data/gpus.json").read_text())["cards"]
    return next(card["total_bytes"] for card in cards if card["key"] == CARD) - cell.get("taken_mib", 0) * 2**20


def run(cell):
    ranks, tp = METHODS[cell["method"]]
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps(MODELS[cell["model"]]))
        program = [PYTHON, ROOT / "validation/parallel/train_llmem.py", config, "--batch", cell["batch"], "--seq", cell["seq"], "--tp", tp]
        return run_cell(program, ranks, gpu=CARD, memory=memory(cell), outcome=True)


if __name__ == "__main__":
    cells_to(cells(), run)
