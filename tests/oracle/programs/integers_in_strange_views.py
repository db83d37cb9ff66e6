"""Random shapes and strides."""

import torch
from integer_cases import CASES


def strange_view(generator, device, dtype):
    """A tensor of random shape that is sliced, transposed, expanded or offset in its storage."""
    draw = lambda n: int(torch.randint(n, (1,), generator=generator))
    shape = [1 + draw(5) for _ in range(1 + draw(3))]
    base = torch.randint(0, 7, [2 * s + 1 for s in shape], generator=generator).to(dtype).to(device)
    view = base[tuple(slice(draw(2), None, 1 + draw(2)) for _ in shape)]
    if draw(2):
        view = view.transpose(0, -1)
    if draw(3) == 0:
        view = view.unsqueeze(0).expand(2, *view.shape)
    return view


OPERATIONS = [
    lambda x: x.cumsum(-1),
    lambda x: x.sum(0),
    lambda x: x + x,
    lambda x: (x > 2).nonzero(),
    lambda x: x[x > 2],
    lambda x: x.unique(),
    lambda x: x.contiguous(),
    lambda x: x.flip(0),
    lambda x: x.reshape(-1).sort().values,
    lambda x: x.tolist(),
    lambda x: x.clone().masked_fill_(x > 3, 0),
    lambda x: x.to(torch.int32),
    lambda x: torch.cat([x, x], -1),
    lambda x: x.amax(-1),
    lambda x: (x == x.flatten()[0]).any(-1),
    lambda x: x.cpu(),
    lambda x: x.clone().mul_(2),
    lambda x: torch.where(x > 3, x, -x),
    lambda x: x.prod(-1),
    lambda x: x.gather(-1, torch.zeros_like(x, dtype=torch.int64)),
    lambda x: x.repeat_interleave(2, 0),
    lambda x: x.T.contiguous() if x.dim() == 2 else x.clone(),
    lambda x: x.max(-1).values,
]


def random_views(device, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    return [operation(strange_view(generator, device, dtype)) for operation in OPERATIONS]


for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8):
    for seed in range(6):
        CASES[f"random_views.{str(dtype)[6:]}.{seed}"] = lambda d, dtype=dtype, seed=seed: random_views(d, dtype, seed)
