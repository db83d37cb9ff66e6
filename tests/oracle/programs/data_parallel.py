"""DistributedDataParallel over a Llama of 1.1 B parameters in bfloat16, started by torchrun."""

import os

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel
from transformers import LlamaConfig, LlamaForCausalLM

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.distributed.init_process_group("nccl")
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4, vocab_size=32000))
print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
model = DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(10):
    input_ids = torch.randint(0, 32000, (4, 1024)).cuda()
    model(input_ids=input_ids, labels=input_ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
