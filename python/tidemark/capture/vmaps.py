"""What is done under torch.vmap, as it is done: on whole tensors, which none of the functions that the program calls is given.

A function under vmap is called on one element's shape; what is computed and what lives follows from the batching rules, below all that stands for torch functions.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .recorder import call_arguments

# Operators of torch under the names that functions of torch have (torch/csrc/autograd/python_variable_indexing.cpp for the last).
_NAMES = {"index": "__getitem__"}


class _Below(TorchDispatchMode):
    """Notes operators with the tensors that the batching rules give them."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        given = {key: value for key, value in (kwargs or {}).items() if value not in (None, False)}
        with torch._C.DisableTorchFunction():
            self.recorder.note(name_of(func), args, given, out, None)
        return out


def name_of(func):
    """aten.le.Tensor is torch.Tensor.le."""
    name = func._schema.name.partition("::")[2]
    name = _NAMES.get(name, name)
    return f"torch.{'Tensor.' if hasattr(torch.Tensor, name) else ''}{name}"


def vmap_within(recorder, original):
    """In place of torch.vmap: the outermost is a frame of what is done below it."""

    def mapped(function, *args, **kwargs):
        inner = original(function, *args, **kwargs)

        def run(*a, **k):
            if recorder.is_below:
                return inner(*a, **k)
            frame, out = recorder.enter("scope", "vmap", None, call_arguments(a, k)), None
            recorder.is_below = True
            try:
                with _Below(recorder):
                    out = inner(*a, **k)
                return out
            finally:
                recorder.is_below = False
                recorder.leave(frame, out)

        return run

    return mapped
