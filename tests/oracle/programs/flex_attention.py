"""FlexAttention, compiled, over documents that a mask of blocks keeps apart."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

LENGTH = 1024
document = torch.zeros(LENGTH, dtype=torch.int32, device="cuda")
document[LENGTH // 2 :] = 1
mask = create_block_mask(lambda b, h, q, k: (q >= k) & (document[q] == document[k]), None, None, LENGTH, LENGTH, device="cuda")
print("blocks", int(mask.kv_num_blocks.sum() + mask.full_kv_num_blocks.sum()))
attend = torch.compile(flex_attention, dynamic=False)
x = torch.randn(2, 8, LENGTH, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
attend(x, x, x, block_mask=mask).sum().backward()
