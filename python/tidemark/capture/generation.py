"""A batch as `generate()` gives it to a model: the prompt, or one more token beside the cache of those before it."""

import torch

from .mistakes import Mistake

PREFILL = "PREFILL"  # the forward pass of a prompt
DECODE = "DECODE"  # that of one token, whose cache holds all tokens before it
PHASES = (PREFILL, DECODE)


def add_prompt(maker):
    """transformers 5.24.0: generation/utils.py, GenerationMixin.prepare_inputs_for_generation, of prompts without padding."""
    batch, shape, takes = maker.batch, maker.shape, maker.takes
    batch["input_ids"] = maker.ids(shape.seq)
    batch.sizes["S"] = shape.seq
    if "position_ids" in takes:
        batch["position_ids"] = torch.arange(shape.seq, device=maker.device).expand(shape.batch, -1).contiguous()
    batch["use_cache"] = True
    if "logits_to_keep" in takes:
        batch["logits_to_keep"] = 1


def add_token(maker):
    """The last of `seq` tokens; the cache is filled by the model's own forward pass of the others."""
    add_prompt(maker)
    batch = maker.batch
    cache = _cache_name(maker.takes)
    prompt = {name: value[:, :-1].clone() if isinstance(value, torch.Tensor) else value for name, value in batch.items()}
    with torch.inference_mode():
        batch[cache] = maker.model(**prompt)[cache]
    for name, value in batch.items():
        if isinstance(value, torch.Tensor):
            batch[name] = value[:, -1:].clone()


def _cache_name(takes):
    """transformers 5.24.0 calls it `cache`, releases before it `past_key_values`."""
    name = next((name for name in ("cache", "past_key_values") if name in takes), None)
    if name is None:
        raise Mistake("the model takes no cache of keys and values")
    return name
