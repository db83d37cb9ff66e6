"""Blocks of attention with dropout, each checkpointed inside a compiled graph: the graph keeps the generator's state by an operator that takes an operator.

python compiled_checkpoint.py [--keep]      # --keep: without checkpoints
"""

import sys

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

BLOCKS, BATCH, LENGTH, HEADS, SIZE = 4, 4, 1024, 8, 64


def block(x, weight):
    q, k, v = (x @ weight).view(BATCH, LENGTH, 3, HEADS, SIZE).permute(2, 0, 3, 1, 4)
    attended = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
    return x + attended.transpose(1, 2).reshape(x.shape)


@torch.compile(fullgraph=True)
def stack(x, weights):
    for weight in weights:
        x = block(x, weight) if "--keep" in sys.argv else checkpoint(block, x, weight, use_reentrant=False)
    return x


features = HEADS * SIZE
weights = [torch.randn(features, 3 * features, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(BLOCKS)]
x = torch.randn(BATCH, LENGTH, features, device="cuda", dtype=torch.bfloat16)
for _ in range(2):
    torch.cuda.reset_peak_memory_stats()  # of the first step, which compiles
    stack(x, weights).sum().backward()
    print("peak", torch.cuda.max_memory_allocated())
