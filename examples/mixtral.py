"""A small Mixtral (8 experts, 2 per token) in bf16, with the router's balancing loss.

How tokens spread over the experts is data that a card without arithmetic cannot know; it is an assumption, and yours to choose:

    tidemark run --gpu h100-80gb --moe-routing skewed:0.5 -- python examples/mixtral.py --batch 8 --sequence 2048
"""

import argparse

import torch
from transformers import MixtralConfig, MixtralForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = (
        MixtralForCausalLM(
            MixtralConfig(
                hidden_size=1024,
                intermediate_size=3584,
                num_hidden_layers=arguments.layers,
                num_attention_heads=16,
                num_key_value_heads=8,
                vocab_size=32000,
                num_local_experts=arguments.experts,
                num_experts_per_tok=2,
                output_router_logits=True,
            )
        )
        .cuda()
        .train()
    )
    torch.set_default_dtype(torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    input_ids = torch.randint(0, 32000, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = input_ids.cuda()
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
