"""Run by test_dicts.py under `tidemark run`: layers that are given a dict, into which one puts what it makes, as transformers' Gemma 4; and one that is seen by a hook instead."""

import torch
from recorded import captured, printed


class GradientCheckpointingLayer(torch.nn.Module):  # which is known by its name
    pass


class Layer(GradientCheckpointingLayer):
    def __init__(self, puts):
        super().__init__()
        self.puts = puts
        self.weight = torch.nn.Parameter(torch.zeros(8))

    def forward(self, x, shared=None):
        keys = x * self.weight
        if self.puts:
            shared["keys"] = keys
        return x + keys


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(False), Layer(True)])
        self.seen = Layer(False)

    def forward(self, x):
        shared, seen = {}, []
        for layer in self.layers:
            x = layer(x, shared=shared)
        handle = self.seen.register_forward_pre_hook(lambda module, args: seen.append(args[0] * 2))
        x = self.seen(x)
        handle.remove()
        return x.sum()


print("".join(printed(captured(Model(), "x", torch.bfloat16))))
