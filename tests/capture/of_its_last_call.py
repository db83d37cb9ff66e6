"""Run by test_slots.py under `tidemark run`: a module around whose forward there is a cache of its last call, as transformers' Sam2SinePositionEmbedding."""

import functools

import torch
from recorded import captured, printed


class Places(torch.nn.Module):
    @functools.lru_cache(maxsize=1)
    def forward(self, count):
        return torch.arange(count, device="cuda") + 1


class Adds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.places = Places()
        self.weight = torch.nn.Parameter(torch.zeros(8))

    def forward(self, x):
        few = self.places(4).float()
        more = self.places(8).float()
        return x * self.weight + more + few.sum()


print("".join(printed(captured(Adds(), "x", torch.bfloat16))))
