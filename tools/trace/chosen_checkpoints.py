"""Checkpoints of chosen layers, and of layers that keep what chosen operators give, as a spec says them (record_steps.py)."""

import functools


def how_of(spec):
    """Arguments of torch.utils.checkpoint.checkpoint."""
    how = {"use_reentrant": spec["checkpointing"] == "reentrant"}
    return {**how, "context_fn": keeping(spec["checkpoint_save"])} if "checkpoint_save" in spec else how


def choose_layers(model, spec):
    """Where every layer is checkpointed: other ones are not, or keep nothing."""
    from torch.utils.checkpoint import checkpoint
    from transformers.modeling_layers import GradientCheckpointingLayer

    for number, layer in enumerate(module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)):
        if "checkpoint_layers" in spec:
            layer.gradient_checkpointing = number in numbers_of(spec["checkpoint_layers"])
        if "checkpoint_save_layers" in spec and number not in numbers_of(spec["checkpoint_save_layers"]):
            layer._gradient_checkpointing_func = functools.partial(checkpoint, use_reentrant=False)


def numbers_of(texts):
    """Of "0-3" and of "7"."""
    numbers = set()
    for text in texts:
        first, _, last = text.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def keeping(names):
    """The context_fn of checkpoint() that keeps what these operators give, whatever their overload."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    kept = {"aten::" + name for name in names}

    def policy(context, operator, *args, **kwargs):
        schema = getattr(operator, "_schema", None)
        return CheckpointPolicy.MUST_SAVE if schema and schema.name in kept else CheckpointPolicy.PREFER_RECOMPUTE

    return lambda: create_selective_checkpoint_contexts(policy)
