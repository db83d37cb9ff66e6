"""Memory without data, where a tensor of integers lay before: it is zero."""

import torch

device = torch.device("cuda")
for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
    before = torch.full((1_500_000,), 1, dtype=dtype, device=device)
    place = before.data_ptr()
    del before
    for fresh in (lambda: torch.empty(1_500_000, dtype=dtype, device=device), lambda: torch.zeros(1, dtype=dtype, device=device).new_empty(1_500_000)):
        after = fresh()
        assert after.data_ptr() == place, "the block was not used again"
        print(dtype, int(after.cpu().sum()))
        after.fill_(1)
        del after
resized = torch.full((4,), 7, dtype=torch.int64, device=device).resize_(2)
print("resized", resized.tolist())
