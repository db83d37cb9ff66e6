"""Full training of Falcon-7B's shape under checkpointing: 71 heads of math attention, whose safe softmax asks of 1.2e9 masked places whether all are."""

import torch
from transformers import FalconConfig, FalconForCausalLM

torch.set_default_dtype(torch.bfloat16)
model = FalconForCausalLM(FalconConfig(use_cache=False))  # the defaults are falcon-7b's
torch.set_default_dtype(torch.float32)
model.cuda().train()
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for _ in range(3):
    input_ids = torch.randint(0, 65000, (4, 2048)).cuda()
    model(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), labels=input_ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
