"""Run by test_dtypes.py under `tidemark run`: modules that cast what they are given, or a parameter, to a dtype that is another under autocast alone."""

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
follow([sized], [captured(Sees(), "hidden", torch.float32), captured(Sees(), "hidden", torch.float32, autocast=True)])
print("\n".join(printed(sized)))


class Biased(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(8))

    def forward(self, seen):
        return torch.abs(seen + self.bias.to(seen.dtype))


class Projects(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.biased = torch.nn.Linear(8, 8), Biased()

    def forward(self, hidden):
        return self.biased(self.patches(hidden))


sized = captured(Projects(), "hidden", torch.bfloat16)
follow([sized], [captured(Projects(), "hidden", torch.float32), captured(Projects(), "hidden", torch.float32, autocast=True)])
print("\n".join(printed(sized)))
