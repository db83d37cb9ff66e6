"""A Llama of 1.1 B parameters under every strategy of `train_llama.py` x N = 1, 2, 4, 8 x checkpointing on, off: real `tidemark run`s, rank 0,
three steps of batch 4, 1024 tokens, on H100s.  Where memory waits for other streams (FSDP1, ZeRO-3) also with such waits over at once and as late as can be, the two ends of a prediction.

    python validation/parallel/strategies_table.py validation/parallel/llama_strategies.jsonl
"""

from cells import ROOT, cells_to, launched, run_cell

STRATEGIES = ("ddp", "ddp_amp", "fsdp1", "fsdp2", "fsdp2_keep", "zero1", "zero2", "zero3", "tp")

WAIT_FOR_STREAMS = ("fsdp1", "zero3")  # by Tensor.record_stream


def cells():
    for ranks in (4, 8, 2, 1):
        for strategy in STRATEGIES:
            if (strategy, ranks) == ("tp", 8):
                continue  # four key/value heads
            for checkpointing in (True, False):
                cell = {"strategy": strategy, "ranks": ranks, "checkpointing": checkpointing}
                yield cell
                if strategy in WAIT_FOR_STREAMS:
                    for order in ("instant", "late"):
                        yield {**cell, "event_order": order}


def run(cell):
    options = ["--strategy", cell["strategy"], *(["--checkpointing"] if cell["checkpointing"] else [])]
    return run_cell(launched(cell["ranks"], ROOT / "validation/parallel/train_llama.py", options), cell["ranks"], event_order=cell.get("event_order"))


if __name__ == "__main__":
    cells_to(cells(), run)
