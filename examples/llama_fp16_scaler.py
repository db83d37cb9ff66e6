"""A Llama of 1.1 B parameters (TinyLlama) with fp16 autocast, a gradient scaler, accumulation and clipping.

tidemark run --gpu a40 -- python examples/llama_fp16_scaler.py --batch 4 --accumulation 4
"""

import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=22)
    parser.add_argument("--accumulation", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    model = LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=arguments.layers, num_attention_heads=32, num_key_value_heads=4, vocab_size=32000)).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    scaler = torch.amp.GradScaler("cuda")
    input_ids = torch.randint(0, 32000, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        for _ in range(arguments.accumulation):
            batch = input_ids.cuda()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = model(input_ids=batch, labels=batch).loss / arguments.accumulation
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}, scale {scaler.get_scale():.0f}", flush=True)


if __name__ == "__main__":
    main()
