"""Small and large blocks on eight streams of their own: sixteen expandable segments, each with 9/8 of the card's addresses."""

import torch

held = []
for _ in range(8):
    with torch.cuda.stream(torch.cuda.Stream()):
        held += [torch.empty(1 << 10, device="cuda"), torch.empty(4 << 20, device="cuda")]
print(torch.cuda.max_memory_allocated())
