"""Llama 3.2 1B, the whole forward and backward compiled with torch.compile (inductor writes Triton kernels).

The first run compiles, which takes half a minute; later ones take the kernels from the cache.

    tidemark run --gpu a100-80gb -- python examples/llama_compile.py
    tidemark run --gpu a100-80gb -- python examples/llama_compile.py --eager
"""

import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM

CONFIG = dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, vocab_size=32000, tie_word_embeddings=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=CONFIG["num_hidden_layers"])
    parser.add_argument("--hidden", type=int, default=CONFIG["hidden_size"])
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--mode", default="default", choices=["default", "max-autotune-no-cudagraphs"])
    parser.add_argument("--eager", action="store_true")
    arguments = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(LlamaConfig(**{**CONFIG, "num_hidden_layers": arguments.layers, "hidden_size": arguments.hidden, "intermediate_size": 4 * arguments.hidden}))
    torch.set_default_dtype(torch.float32)
    model.cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def loss_of(input_ids):
        logits = model(input_ids=input_ids, use_cache=False).logits
        return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), input_ids[:, 1:].flatten())

    if not arguments.eager:
        loss_of = torch.compile(loss_of, mode=arguments.mode)
    for step in range(arguments.steps):
        input_ids = torch.randint(0, CONFIG["vocab_size"], (arguments.batch, arguments.sequence)).cuda()
        loss = loss_of(input_ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
