"""Applies the checkpointing that `tidemark plan` has answered to a model, by torch.utils.checkpoint.

    $ tidemark plan llama/ --checkpointing-under 24GiB --json plan.json
    model = tidemark.apply(model, "plan.json")

Layers are counted as the plan counts them: of a model of transformers its GradientCheckpointingLayers, of any other what stands in its
nn.ModuleLists, in the order of model.modules(); or those that the caller lists.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

FIELDS = {"checkpointing": "none", "checkpoint_every": 1, "checkpoint_layers": [], "checkpoint_save": [], "checkpoint_save_layers": []}
KINDS = ("none", "non_reentrant", "reentrant")


def apply(model, plan, layers=None):
    """Checkpoints the layers of `model` as the first answer of `plan` does, and returns it.

    `plan` is what `tidemark plan --json` has written: its path, or the JSON as a dictionary; or a spec of `tidemark predict`.  `layers`
    are the modules that it counts, where they are not those that the model tells.
    """
    choice = _choice_of(plan)
    is_transformers = layers is None and hasattr(model, "gradient_checkpointing_enable")
    found = _layers_of(model) if layers is None else list(layers)
    _check(choice, len(found))
    if choice["checkpointing"] == "none":
        if is_transformers:
            model.gradient_checkpointing_disable()
        return model
    wanted = _numbers(choice["checkpoint_layers"]) if choice["checkpoint_layers"] else range(0, len(found), choice["checkpoint_every"])
    keeping = _numbers(choice["checkpoint_save_layers"] or [f"0-{len(found)}"]) if choice["checkpoint_save"] else ()
    is_reentrant = choice["checkpointing"] == "reentrant"
    if is_transformers:  # the inputs of the embedding need gradients then, and nothing is cached
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": is_reentrant})
    for number, layer in enumerate(found):
        how = _function(is_reentrant, choice["checkpoint_save"] if number in keeping else [])
        if is_transformers:
            layer.gradient_checkpointing = number in wanted
            layer._gradient_checkpointing_func = how
        elif number in wanted:
            layer.forward = _checkpointed(how, layer.forward)
    return model


def _choice_of(plan):
    """What a plan, or a spec, says of checkpointing."""
    if isinstance(plan, (str, os.PathLike)):
        plan = json.loads(Path(plan).read_text())
    if hasattr(plan, "to_dict"):
        plan = plan.to_dict()
    if not isinstance(plan, dict):
        raise TypeError(f"a plan is a path or a dictionary, not {type(plan).__name__}")
    if str(plan.get("schema", "")).startswith("tidemark.plan/"):
        if not plan["answers"]:
            raise ValueError("the plan has no answer: nothing fits")
        plan = plan["answers"][0]["spec"]
    elif "checkpointing" not in plan:
        raise ValueError("it is neither a plan nor a spec: it says nothing of checkpointing")
    return {name: plan.get(name, usual) for name, usual in FIELDS.items()}


def _layers_of(model):
    import torch

    try:
        from transformers.modeling_layers import GradientCheckpointingLayer
    except ImportError:
        GradientCheckpointingLayer = ()
    of_transformers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    return of_transformers or [layer for part in model.modules() if isinstance(part, torch.nn.ModuleList) for layer in part]


def _numbers(texts):
    """The numbers that texts such as "0-3" and "7" stand for."""
    numbers = set()
    for text in texts:
        first, _, last = str(text).partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def _check(choice, count):
    import torch

    if choice["checkpointing"] not in KINDS:
        raise ValueError(f"checkpointing: {choice['checkpointing']!r} is not one of {', '.join(KINDS)}")
    for field in ("checkpoint_layers", "checkpoint_save_layers"):
        beyond = [number for number in _numbers(choice[field]) if number >= count]
        if beyond:
            raise ValueError(f"{field}: the model has no layer {min(beyond)}; there are {count}, counted from 0")
    if choice["checkpoint_save"] and choice["checkpointing"] != "non_reentrant":
        raise ValueError("checkpoint_save: torch keeps results of operators in non-reentrant checkpoints alone")
    for name in choice["checkpoint_save"]:
        if not hasattr(torch.ops.aten, name):
            raise ValueError(f"checkpoint_save: torch {torch.__version__} has no operator aten::{name}")
    if choice["checkpointing"] != "none" and count == 0:
        raise ValueError("the model has no layers that could be told; list them with layers=")


def _function(is_reentrant, names):
    """torch.utils.checkpoint.checkpoint, which keeps what the operators of these names give."""
    from torch.utils.checkpoint import checkpoint

    if not names:
        return functools.partial(checkpoint, use_reentrant=is_reentrant)
    return functools.partial(checkpoint, use_reentrant=False, context_fn=_keeping(names))


def _checkpointed(how, forward):
    """As GradientCheckpointingLayer calls it: a reentrant checkpoint takes no keywords."""
    return lambda *args, **kwargs: how(functools.partial(forward, **kwargs), *args)


def _keeping(names):
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    kept = {"aten::" + name for name in names}

    def policy(context, operator, *args, **kwargs):
        schema = getattr(operator, "_schema", None)  # of a higher-order operator there is none
        return CheckpointPolicy.MUST_SAVE if schema and schema.name in kept else CheckpointPolicy.PREFER_RECOMPUTE

    return lambda: create_selective_checkpoint_contexts(policy)
