"""Run by test_dtypes.py under `tidemark run`: a module that casts what it is given, which is of another dtype under autocast alone."""

import torch

from tidemark.capture.bodies import Bodies
from tidemark.capture.dtypes import follow
from tidemark.capture.folding import fold
from tidemark.capture.lifting import lift
from tidemark.capture.scopes import record
from tidemark.capture.text import Printer


class Adds(torch.nn.Module):
    def forward(self, hidden, seen):
        seen = seen.to(hidden.dtype)
        hidden = hidden + seen
        del seen
        return torch.abs(hidden)


class Sees(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.adds = torch.nn.Linear(8, 8), Adds()

    def forward(self, hidden):
        return self.adds(hidden, self.patches(hidden))


def captured(weights, autocast=False):
    model = Sees().to("cuda", weights)
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        recorder = record(model, {"hidden": torch.zeros(2, 8, dtype=weights, device="cuda")}, "cuda")
    lift(recorder)
    recorder.sizes = {}
    return recorder


sized = captured(torch.bfloat16)
follow([sized], captured(torch.float32), captured(torch.float32, autocast=True))
printer = Printer()
printer.name(Bodies(sized, fold).of(sized.root))
print("\n".join(printer.out))
