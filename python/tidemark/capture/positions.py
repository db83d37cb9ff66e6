"""A batch as it comes to GPUs that share the tokens of each sample: with positions, and labels that are shifted."""

import inspect

import torch

from .mistakes import Mistake
from .models import Source


def with_positions(source):
    """transformers 5.17.0: Trainer._prepare_context_parallel_inputs"""

    def batch(model, shape, device):
        given = source.batch(model, shape, device)
        if "position_ids" not in inspect.signature(model.forward).parameters or "labels" not in given:
            raise Mistake(f"{type(model).__name__} takes no positions beside labels")
        rows, tokens = given["input_ids"].shape
        given["shift_labels"] = torch.nn.functional.pad(given["labels"], (0, 1), value=-100)[:, 1:].contiguous()
        given["position_ids"] = torch.arange(tokens, device=device).expand(rows, -1).contiguous()
        return given

    return Source(source.config, source.make, batch)
