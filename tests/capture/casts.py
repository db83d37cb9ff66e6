"""Run by test_dtypes.py under `tidemark run`: a module that casts what it is given, which is of another dtype under autocast alone."""

import torch
from recorded import captured, printed

from tidemark.capture.dtypes import follow


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


sized = captured(Sees(), "hidden", torch.bfloat16)
follow([sized], captured(Sees(), "hidden", torch.float32), captured(Sees(), "hidden", torch.float32, autocast=True))
print("\n".join(printed(sized)))
