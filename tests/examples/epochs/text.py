"""Causal language modelling of texts that are padded to the longest of their batch, over 3,072 tokens in some: PyTorch's embedding sorts those in backward."""

import random

import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

random.seed(0)
torch.manual_seed(0)


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return {"input_ids": ids, "labels": ids.clone(), "attention_mask": (ids != 0).long()}


texts = [torch.randint(3, 500, (random.randint(30, 1200),)) for _ in range(480)]
model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)).cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(texts, batch_size=4, shuffle=True, collate_fn=collate):
    outputs = model(**{name: tensor.cuda() for name, tensor in batch.items()})
    outputs.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
