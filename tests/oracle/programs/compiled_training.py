"""A compiled training whose kernels are tuned and whose logits are padded on trial: compiled_training.py.  Prints its own peaks."""

import gc

import torch
from torch import nn

VOCABULARY, D = 50257, 256  # not a multiple of what matrix products like: Inductor tries it padded


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.up, self.down, self.head = nn.Embedding(VOCABULARY, D), nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.Linear(4 * D, D), nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, ids, targets):
        x = self.embed(ids)
        x = x + self.down(nn.functional.gelu(self.up(self.norm(x))))
        return nn.functional.cross_entropy(self.head(x).float().flatten(0, 1), targets.flatten())


model = Model().cuda().bfloat16()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(4):
    compiled(torch.zeros(4, 512, dtype=torch.long, device="cuda"), torch.zeros(4, 512, dtype=torch.long, device="cuda")).backward()
    optimizer.step()
    optimizer.zero_grad()
    gc.collect()  # what lies in cycles of torch.compile's own is gone at the same moment, cold or warm
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
