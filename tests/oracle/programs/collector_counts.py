"""What Python's cycle collector has counted after every part of every step of a small training: collector_counts.py OUT STEPS."""

import array
import gc
import json
import sys

import torch
from torch import nn

D, BLOCKS = 64, 8
counts = array.array("i")  # no containers of their own
collections = [0]


def tick():
    counts.append(gc.get_count()[0])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down, self.drop = nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.Linear(4 * D, D), nn.Dropout(0.1)

    def forward(self, x):
        tick()
        return x + self.drop(self.down(torch.nn.functional.gelu(self.up(self.norm(x)))))


def count_collections(phase, info):
    collections[0] += phase == "start"


def step(model, optimizer):
    x = torch.randn(4, 16, D, device="cuda")
    tick()
    loss = model(x).pow(2).mean()
    tick()
    loss.backward()
    tick()
    optimizer.step()
    tick()
    optimizer.zero_grad()
    tick()
    for _ in range(30):  # what only the collector frees
        one, other = {}, []
        one["other"] = other
        other.append(one)
    tick()


def main(out, steps):
    model = nn.Sequential(*[Block() for _ in range(BLOCKS)], nn.Linear(D, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        step(model, optimizer)
    gc.callbacks.append(count_collections)
    del counts[:]
    for _ in range(steps):
        step(model, optimizer)
    with open(out, "w") as file:
        json.dump({"counts": list(counts), "collections": collections[0], "ticks": BLOCKS + 6}, file)


main(sys.argv[1], int(sys.argv[2]))
