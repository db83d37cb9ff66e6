"""Run by test_dtypes.py under `tidemark run`: what a tower makes of images whose dtype is that of another module's weight."""

import torch

from tidemark.capture.bodies import Bodies
from tidemark.capture.dtypes import follow
from tidemark.capture.folding import fold
from tidemark.capture.lifting import lift
from tidemark.capture.scopes import record
from tidemark.capture.text import Printer


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = torch.nn.Linear(8, 8)

    def forward(self, pixels):
        dtype = self.patches.weight.dtype
        return torch.abs(self.patches(pixels.to(dtype)))


def captured(weights, images, autocast=False):
    model = Tower().to("cuda", weights)
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        recorder = record(model, {"pixels": torch.zeros(2, 8, dtype=images, device="cuda")}, "cuda")
    lift(recorder)
    recorder.sizes = {}
    return recorder


half, whole = torch.bfloat16, torch.float32
sized = captured(half, half)
follow([sized], captured(whole, whole), captured(whole, whole, autocast=True), (captured(whole, half),))
printer = Printer()
printer.name(Bodies(sized, fold).of(sized.root))
print(printer.out[-1].rstrip())
