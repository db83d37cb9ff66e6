"""Run by test_dtypes.py under `tidemark run`: models that do something under autocast that they do not do without it, and one that does the same."""

import torch

from tidemark.capture.dtypes import follow
from tidemark.capture.lifting import lift
from tidemark.capture.scopes import record


class Model(torch.nn.Module):
    def __init__(self, casts):
        super().__init__()
        self.casts, self.linear = casts, torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        if self.casts and x.dtype != self.linear.weight.dtype:   # as transformers/models/t5, T5DenseActDense
            x = x.to(self.linear.weight.dtype)
        return torch.abs(x)


def captured(casts, weights, autocast=False):
    model = Model(casts).to("cuda", weights)
    with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
        recorder = record(model, {"x": torch.zeros(2, 8, dtype=weights, device="cuda")}, "cuda")
    lift(recorder)
    recorder.sizes = {}
    return recorder


for casts in (True, False):
    sized = captured(casts, torch.bfloat16)
    follow([sized], captured(casts, torch.float32), captured(casts, torch.float32, autocast=True))
    print("casts" if casts else "does the same", sized.minds_autocast)
