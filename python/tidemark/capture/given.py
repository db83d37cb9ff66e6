"""A module that lives in another process, which has written it down (tidemark/own_modules.py), as a function that can be captured."""

import inspect
import json
import multiprocessing.spawn
import os
import sys

import torch

from ..own_modules import IS_CAPTURING, copy_with


def function_of(path):
    """What `model.py:function` is in `python -m tidemark.capture`, of a file that `own_modules.write` has written."""
    with open(f"{path}.json", encoding="utf-8") as file:
        about = json.load(file)
    os.environ[IS_CAPTURING] = "1"
    sys.path[:0] = [folder for folder in about["sys_path"] if folder not in sys.path]
    if about["main"]:
        multiprocessing.spawn.import_main_path(about["main"])  # where __main__'s classes are, as for any process that is spawned
    written = torch.load(path, weights_only=False)
    module, batches, names = written["module"], written["batches"], about["sizes"]

    def build(**sizes):
        device = torch.get_default_device()
        given = batches.get(tuple(sizes[name] for name in names), {})  # nothing where the module alone is wanted, at any sizes
        return on(device, module), {name: _batch_on(device, value) for name, value in given.items()}

    build.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])
    return build


def on(device, module):
    """The module with weights on a device, which nobody has given values."""
    return copy_with(module, lambda tensor: torch.empty_like(tensor, device=device) if tensor.is_meta else tensor.detach().to(device))


def _batch_on(device, value):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.zeros(value.shape, dtype=value.dtype, device=device) if value.is_meta else value.to(device)
