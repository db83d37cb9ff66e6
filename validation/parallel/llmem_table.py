"""LLMem's models under Gemini on 1, 2 and 4 GPUs of 16 GB, batch 1: real `tidemark run`s of train_gemini.py, rank 0.

    PYTHONPATH=…/ColossalAI python validation/parallel/llmem_table.py validation/parallel/llmem_gemini.jsonl

The card is a T4 with as much memory for PyTorch as a V100-16GB has: torch 2.11 has no kernels for a V100, and the T4 is the nearest that it has.  A run that does not fit is a
row like any other; `python validation/parallel/llmem_score.py validation/parallel/llmem_gemini.jsonl` says what agrees with the paper."""

import json
import tempfile
from pathlib import Path

from llmem_models import CHOICES, MODELS, ONE_GPU_MB
from running import ROOT, cells_to, launched, run_cell

CARD = "t4"


def memory():
    """A V100's, less what its context takes more than the T4's."""
    cards = {card["key"]: card for card in json.loads((ROOT / "data/gpus.json").read_text())["cards"]}
    v100, t4 = cards["v100-16gb"], cards[CARD]
    return v100["total_bytes"] - v100["context_bytes"]["typical"] + t4["context_bytes"]["typical"]


def cells():
    """What the paper has a figure for first."""
    for ranks, names in ((4, CHOICES), (1, ONE_GPU_MB), (2, CHOICES), (4, MODELS), (1, MODELS), (2, MODELS)):
        for model in names:
            yield {"model": model, "ranks": ranks, "batch": 1, "seq": 512}


def run(cell):
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps(MODELS[cell["model"]]))
        options = [config, "--batch", cell["batch"], "--seq", cell["seq"]]
        return run_cell(launched(cell["ranks"], ROOT / "validation/parallel/train_gemini.py", options), cell["ranks"], gpu=CARD, memory=memory(), outcome=True)


if __name__ == "__main__":
    cells_to(cells(), run)
