"""Llama 3.2 1B with Liger's fused kernels (Triton): the logits of the whole vocabulary are never there at once.

tidemark run --gpu a100-80gb -- python examples/llama_liger.py
tidemark run --gpu a100-80gb -- python examples/llama_liger.py --without-liger
"""

import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM

CONFIG = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256, tie_word_embeddings=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=CONFIG["num_hidden_layers"])
    parser.add_argument("--vocabulary", type=int, default=CONFIG["vocab_size"])
    parser.add_argument("--hidden", type=int, default=CONFIG["hidden_size"])
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--without-liger", action="store_true")
    arguments = parser.parse_args()

    if not arguments.without_liger:
        from liger_kernel.transformers import apply_liger_kernel_to_llama

        apply_liger_kernel_to_llama()
    config = LlamaConfig(**{**CONFIG, "num_hidden_layers": arguments.layers, "vocab_size": arguments.vocabulary, "hidden_size": arguments.hidden, "intermediate_size": 4 * arguments.hidden})
    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(config).cuda().train()
    torch.set_default_dtype(torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

    for step in range(arguments.steps):
        input_ids = torch.randint(0, arguments.vocabulary, (arguments.batch, arguments.sequence)).cuda()
        loss = model(input_ids=input_ids, labels=input_ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
