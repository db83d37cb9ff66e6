"""What a header says of a model by itself: that it makes no loss, that it is a part of another, the module that makes its logits, and packages whose kernels would run in the place of plain torch, were they installed."""

import inspect
import re
import sys

from .models import output_embeddings


def told_of(model):
    """(key, value) of lines of its header."""
    lines = (("head", getattr(model, "trained_for", "").lower()), ("of_whole", getattr(model, "of_whole", "")), ("output_embeddings", output_embeddings(model)), ("without_kernels_of", ", ".join(_missing_for(model))))
    return [line for line in lines if line[1]]


def loss_takes_items(model):
    """Whether forward hands num_items_in_batch, one of its **kwargs, on to the loss (transformers 5.24.0: loss/loss_utils.py, fixed_cross_entropy)."""
    source = inspect.getsource(type(model).forward)
    return bool(re.search(r"self\.loss_function\([^()]*(\([^()]*\)[^()]*)*\*\*kwargs", source))


def _missing_for(model):
    """The packages' names, as the code of the model's modules asks for them (transformers 5.23.0: integrations/hub_kernels.py, use_kernel_func_from_hub_with_fallback)."""
    sources = [sys.modules.get(name) for name in {type(module).__module__ for module in model.modules()}]  # a file of one's own need not be there
    functions = [value for source in sources if source for value in vars(source).values() if callable(value)]
    return sorted({known["package"] for known in map(_closed_over, functions) if known.get("is_new_implementation") is False and "package" in known})


def _closed_over(function):
    """What a function has of those that made it, by name."""
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    return {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells)} if code and cells else {}
