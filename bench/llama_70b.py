"""Full training of a Llama-3-70B shape for three steps: what the virtual GPU must do on a laptop's memory."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.set_default_dtype(torch.bfloat16)
model = LlamaForCausalLM(LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192))
torch.set_default_dtype(torch.float32)
model.cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for _ in range(3):
    input_ids = torch.randint(0, 128000, (1, 2048)).cuda()
    model(input_ids=input_ids, labels=input_ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
