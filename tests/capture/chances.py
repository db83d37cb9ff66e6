"""Run by test_chance.py under `tidemark run`: a model that decides by chance, as transformers/models/wav2vec2 does, and asks for a gradient."""

import numpy
import torch
from recorded import captured, printed
from tidemark.capture.chance import as_the_most


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.row, self.linear = torch.nn.Parameter(torch.zeros(8)), torch.nn.Linear(8, 8)

    def forward(self, x):
        h = x[:, None]
        h.requires_grad = True
        h = h * 2
        starts = numpy.random.choice(numpy.arange(4), int(1.5 + numpy.random.rand(1).item()), replace=False)
        mask = torch.zeros(2, 1, dtype=torch.bool)
        mask[list(starts[:1])] = True
        h[mask.to(x.device)] = self.row
        if not torch.rand([]) < 0.999:  # a layer that is left out
            h = self.linear(h)
        return h


with as_the_most() as asked:
    recorder = captured(Model(), "x", torch.bfloat16)
print(*sorted(asked | recorder.by_chance))
print("\n".join(printed(recorder)))
