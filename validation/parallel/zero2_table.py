"""LLaVA-1.5-7B under DeepSpeed ZeRO-2, bf16, AdamW, on H100s: the 48 cells DP 1, 2, 4, 8 x (sequence 1024, batch 16), (2048, 8) x
pretrain, finetune, full x checkpointing on, off; each a real `tidemark run` of examples/deepspeed_llava.py, rank 0, three steps.

    python validation/parallel/zero2_table.py validation/parallel/zero2_llava.jsonl

One row per cell: peaks of the run and of every step, allocated and reserved per phase, host memory, seconds.  Rows that are there are kept.
The card has as much memory as it takes, so that every cell has its peak.
"""

from cells import ROOT, cells_to, launched, run_cell

DATA_PARALLEL = (1, 2, 4, 8)
SHAPES = ((1024, 16), (2048, 8))  # sequence, batch
STAGES = ("pretrain", "finetune", "full")


def cells():
    for ranks in DATA_PARALLEL:
        for sequence, batch in SHAPES:
            for stage in STAGES:
                for checkpointing in (True, False):
                    yield {"ranks": ranks, "sequence": sequence, "batch": batch, "stage": stage, "checkpointing": checkpointing}


def run(cell):
    options = ["--zero", 2, "--stage", cell["stage"], "--sequence", cell["sequence"], "--batch", cell["batch"], *(["--checkpointing"] if cell["checkpointing"] else [])]
    return run_cell(launched(cell["ranks"], ROOT / "examples/deepspeed_llava.py", options), cell["ranks"])


if __name__ == "__main__":
    cells_to(cells(), run)
