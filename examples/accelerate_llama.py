"""A Llama of 400 M parameters with `accelerate`: mixed precision, accumulation and clipping are its business.

tidemark run --gpu rtx-4090 -- accelerate launch --num_processes 1 --mixed_precision bf16 examples/accelerate_llama.py --batch 4
"""

import argparse

import torch
from accelerate import Accelerator
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    accelerator = Accelerator(gradient_accumulation_steps=arguments.accumulation)
    model = LlamaForCausalLM(LlamaConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=arguments.layers, num_attention_heads=16, vocab_size=32000)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    schedule = get_cosine_schedule_with_warmup(optimizer, 10, arguments.steps)
    tokens = torch.randint(0, 32000, (arguments.steps * arguments.accumulation * arguments.batch, arguments.sequence))
    loader = torch.utils.data.DataLoader(tokens, batch_size=arguments.batch)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)

    for input_ids in loader:
        with accelerator.accumulate(model):
            loss = model(input_ids=input_ids, labels=input_ids).loss
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        accelerator.print(f"loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
