"""For the scripts that test_dtypes.py runs under `tidemark run`: captures of a module, and what they say."""

import torch
from tidemark.capture.bodies import Bodies
from tidemark.capture.folding import fold
from tidemark.capture.lifting import lift
from tidemark.capture.scopes import record
from tidemark.capture.text import Printer


def captured(module, name, weights, values=None, autocast=False):
    """Of a module in one dtype and a batch of 2 x 8 `values` of that, or of another."""
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        recorder = record(module.to("cuda", weights), {name: torch.zeros(2, 8, dtype=values or weights, device="cuda")}, "cuda")
    lift(recorder)
    recorder.sizes = {}
    return recorder


def printed(recorder):
    """The classes of its program, the one that was called last."""
    printer = Printer()
    printer.name(Bodies(recorder, fold).of(recorder.root))
    return printer.out
