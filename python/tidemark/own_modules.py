"""A module without a configuration of transformers: it is captured in a process of its own, on the virtual GPU, to which it is sent without its weights' values."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import sys
import tempfile
from pathlib import Path

from . import errors

_SIZES = ("batch", "seq", "images")
IS_CAPTURING = "TIDEMARK_CAPTURING"  # in the environment of the process that captures


def program_of(module, inputs, spec):
    """The text of its program, and the names of what its forward is called with.  `inputs` is what its forward is called with, by name: a dict, or a function of the sizes (batch, seq, images) that it takes."""
    from .capture import asking, mistakes

    if os.environ.get(IS_CAPTURING):
        raise errors.Error("usage", 'put what the program does behind `if __name__ == "__main__":`: it is imported once more where the module is captured', "predict")
    request = {"batch": spec.get("batch", 1), "seq": spec.get("seq") or 64, "images": spec.get("images", 0), "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False, "autocast": _autocast(spec)}
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        written = Path(folder, "module.pt")
        names = write(written, module, inputs, request)
        source = Path(folder, "module.py")
        source.write_text(f"from tidemark.capture.given import function_of\n\nbuild = function_of({str(written)!r})\n")
        try:
            return asking.ask({**request, "source": f"{source}:build"}), names
        except mistakes.Mistake as mistake:
            code = "unsupported" if isinstance(mistake, mistakes.Unsupported) else "bad_value"
            raise errors.Error(code, str(mistake).replace(f"{source}:build: ", ""), type(module).__name__) from None


def _autocast(spec):
    """As `python -m tidemark.capture --autocast` has it."""
    cast = spec.get("autocast", "none")
    return None if cast == "none" else "own" if cast == spec.get("dtype", "bf16") else "other"


def write(path, module, inputs, request):
    """The names of what the forward is called with."""
    import torch

    names = [name for name in _SIZES if callable(inputs) and name in inspect.signature(inputs).parameters]
    main = getattr(sys.modules["__main__"], "__file__", None)
    about = {"sys_path": [os.path.abspath(folder or ".") for folder in sys.path], "main": os.path.abspath(main) if main else None, "sizes": names}
    _check_classes(module, main)
    Path(f"{path}.json").write_text(json.dumps(about))
    try:
        batches = _batches(inputs, names, request)
        torch.save({"module": _without_values(module), "batches": batches}, path)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise errors.Error("unsupported", f"it cannot be sent to the process that captures it: {error}", type(module).__name__, "capture it from a file: `python -m tidemark.capture model.py:function`") from error
    return set(next(iter(batches.values())))


def dtype_of(module):
    """The type that most of its weights' numbers are of, as the spec says it."""
    from .capture.models import main_dtype

    known, own = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}, str(main_dtype(module)).removeprefix("torch.")
    if own not in known:
        raise errors.Error("unsupported", f"its weights are of {'no type' if own == 'None' else own}, which is not trained in", type(module).__name__, "run the program itself: tidemark.run")
    return known[own]


def _check_classes(module, main):
    for part in module.modules():
        if type(part).__module__ == "__main__" and main is None:
            raise errors.Error("unsupported", f"{type(part).__name__} is a class of this session, which another process cannot import", type(module).__name__, "put it into a file, and import it")


def copy_with(module, there):
    """A copy of the module in which `there(tensor)` stands for each parameter and buffer.  What is shared stays shared."""
    import torch

    memo = {}
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            other = there(tensor)
            memo[id(tensor)] = torch.nn.Parameter(other, requires_grad=tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else other
    return copy.deepcopy(module, memo)


def _without_values(module):
    """A copy whose weights have sizes alone; whole numbers, which a forward pass may decide by, keep theirs."""
    import torch

    return copy_with(module, lambda tensor: torch.empty_like(tensor, device="meta") if tensor.is_floating_point() else tensor.clone())


def _batches(inputs, names, request):
    """{sizes: what the forward is called with} at each of the sizes at which a module is captured."""
    from .capture import batches, points

    if inputs is None:
        raise errors.Error("usage", "a module without a configuration does not say what its forward takes", "inputs", 'a dict of tensors, or a function: inputs=lambda batch, seq: {"x": torch.empty(batch, seq, 16)}')
    if not callable(inputs):
        return {(): _light(inputs)}
    first = batches.Shape(request["batch"], request["seq"], request["images"])
    steps = points.steps_of(first)
    shapes = [{"batch": first.batch + step[0], "seq": first.seq + step[1], "images": first.images + step[2] if first.images else 0} for step in steps]
    return {tuple(shape[name] for name in names): _light(inputs(**{name: shape[name] for name in names})) for shape in shapes}


def _light(given):
    """Whole numbers keep their values, others have sizes alone."""
    import torch

    if not isinstance(given, dict):
        raise errors.Error("bad_value", f"{type(given).__name__} is no dict of what the forward is called with, by name", "inputs")
    return {name: value.to("meta") if isinstance(value, torch.Tensor) and value.is_floating_point() else value for name, value in given.items()}
