"""Run by test_dtypes.py under `tidemark run`: what a tower makes of images whose dtype is that of another module's weight."""

import torch
from recorded import captured, printed
from tidemark.capture.dtypes import follow


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = torch.nn.Linear(8, 8)

    def forward(self, pixels):
        dtype = self.patches.weight.dtype
        return torch.abs(self.patches(pixels.to(dtype)))


half, whole = torch.bfloat16, torch.float32
sized = captured(Tower(), "pixels", half)
follow([sized], [captured(Tower(), "pixels", whole), captured(Tower(), "pixels", whole, half), captured(Tower(), "pixels", whole, autocast=True)])
print(printed(sized)[-1].rstrip())
