"""A Llama of 1.1 B parameters under every strategy of `train_llama.py` x N = 1, 2, 4, 8 x checkpointing on, off: real `tidemark run`s, rank 0,
three steps of batch 4, 1024 tokens, on H100s.

    python validation/parallel/strategies_table.py validation/parallel/llama_strategies.jsonl
"""

from cells import ROOT, cells_to, launched, run_cell

STRATEGIES = ("ddp", "ddp_amp", "fsdp1", "fsdp2", "fsdp2_keep", "zero1", "zero2", "zero3", "tp")


def cells():
    for ranks in (4, 8, 2, 1):
        for strategy in STRATEGIES:
            if (strategy, ranks) == ("tp", 8):
                continue   # four key/value heads
            for checkpointing in (True, False):
                yield {"strategy": strategy, "ranks": ranks, "checkpointing": checkpointing}


def run(cell):
    options = ["--strategy", cell["strategy"], *(["--checkpointing"] if cell["checkpointing"] else [])]
    return run_cell(launched(cell["ranks"], ROOT / "validation/parallel/train_llama.py", options), cell["ranks"])


if __name__ == "__main__":
    cells_to(cells(), run)
