"""Run by test_dtypes.py under `tidemark run`: models that do something under autocast that they do not do without it, and one that does the same."""

import torch
from recorded import captured
from tidemark.capture.autocast import minds


class Model(torch.nn.Module):
    def __init__(self, casts):
        super().__init__()
        self.casts, self.linear = casts, torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        if self.casts and x.dtype != self.linear.weight.dtype:  # as transformers/models/t5, T5DenseActDense
            x = x.to(self.linear.weight.dtype)
        return torch.abs(x)


for casts in (True, False):
    without, under = (captured(Model(casts), "x", torch.float32, autocast=autocast) for autocast in (False, True))
    print("casts" if casts else "does the same", minds(without, under))
