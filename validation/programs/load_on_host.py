"""Loads a checkpoint on the host, as programs do that shard or quantise it afterwards, and moves one layer to the card: load_on_host.py MODEL."""

import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.bfloat16)
model.model.layers[0].cuda()
print(f"{sum(parameter.nbytes for parameter in model.parameters()):,} bytes of weights")
