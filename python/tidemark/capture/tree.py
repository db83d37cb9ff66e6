"""The tree of modules, as they were registered, with parameters and buffers; children that are alike in a row, or go round, once."""

import itertools

from .layers import LONGEST_PERIOD, rounds
from .orders import in_order
from .recorder import is_tensor

_FEWEST_GROUPS = 3  # fewer are written one by one, as some layers ahead of others are


def _kind(module):
    """nn.Linear; LlamaLinear(nn.Linear); LlamaMLP."""
    import torch

    cls = type(module)
    if cls.__module__.startswith("torch.nn."):
        return "nn." + cls.__name__
    base = next((c for c in cls.__mro__ if c.__module__.startswith("torch.nn.") and c is not torch.nn.Module), None)
    return f"{cls.__name__}(nn.{base.__name__})" if base else cls.__name__


def _tensor(name, tensor, first, model_dtype, device, flags):
    where = first.setdefault(id(tensor), name)
    if where is not name:
        return f"= {where}"
    dtype = "T" if tensor.dtype == model_dtype else str(tensor.dtype).removeprefix("torch.")
    if tensor.device.type != device:
        flags = [*flags, "cpu"]
    return f": {dtype}[{', '.join(map(str, tensor.shape))}]" + "".join(" " + f for f in flags)


def tree_lines(model, model_dtype, device, orders=None):
    """`orders`: lists of layers' kinds that these may have in any order (orders.py)."""
    first = {}

    def node(module, path):
        """(line of the module without its name, lines of what is in it without indent)."""
        below = f"{path}." if path else ""
        lines = []
        for name, parameter in module._parameters.items():
            if parameter is not None:
                lines.append(_line("param", name, _tensor(below + name, parameter, first, model_dtype, device, [] if parameter.requires_grad else ["frozen"])))
        for name, buffer in module._buffers.items():
            if buffer is not None:
                transient = ["transient"] if name in module._non_persistent_buffers_set else []
                lines.append(_line("buffer", name, _tensor(below + name, buffer, first, model_dtype, device, transient)))
        for name, value in vars(module).items():
            if is_tensor(value):
                lines.append(_line("attribute", name, _tensor(below + name, value, first, model_dtype, device, [])))
        groups = []
        for name, child in module._modules.items():
            if child is None:
                continue
            inner = node(child, below + name)
            if groups and name.isdigit() and groups[-1][1].isdigit() and int(name) == int(groups[-1][1]) + 1 and groups[-1][2] == inner:
                groups[-1][1] = name
            else:
                groups.append([name, name, inner])
        for place, (head, inner) in in_order(groups, orders or {}) or _in_rounds(groups):
            lines.append(f"{place}: {head}")
            lines += ["  " + line for line in inner]
        layer = any(c.__name__ == "GradientCheckpointingLayer" for c in type(module).__mro__)
        return _kind(module) + (" checkpointable" if layer else ""), lines

    head, lines = node(model, "")
    return [f"modules {head}", *("  " + line for line in lines)]


def _in_rounds(groups):
    """(place, what is there): layers of several kinds that go round, perhaps after some others, are `0..2 by 4 to 15` and `3 by 4 to 15`."""

    def place(start, end):
        return start if start == end else f"{start}..{end}"

    digits = bool(groups) and all(start.isdigit() for start, _, _ in groups)
    kinds = [inner for start, end, inner in groups for _ in range(int(start), int(end) + 1)] if digits and groups[0][0] == "0" and len(groups) > _FEWEST_GROUPS else []
    before, round_ = rounds(kinds)
    ahead, period, last = len(before), len(round_), len(kinds) - 1
    if not kinds or period > LONGEST_PERIOD:
        yield from ((place(start, end), inner) for start, end, inner in groups)
        return
    for first, cycle, more in ((0, before, ""), (ahead, round_, f" by {period} to {last}")):
        at = 0
        for _, alike in itertools.groupby(cycle):
            alike = list(alike)
            yield place(str(first + at), str(first + at + len(alike) - 1)) + more, alike[0]
            at += len(alike)


def _line(kind, name, rest):
    return f"{kind} {name}{'' if rest.startswith(':') else ' '}{rest}"
