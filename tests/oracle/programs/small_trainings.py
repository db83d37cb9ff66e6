"""Prints what PyTorch itself counts, after every step and for every phase of it: small_trainings.py NAME."""

import json
import sys

import torch
from torch import nn


def mlp():
    return nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)), lambda: (torch.randn(256, 512, device="cuda"),), 0


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(hidden_size=256, intermediate_size=688, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=1000)
    return LlamaForCausalLM(config), lambda: (torch.randint(0, 1000, (2, 128)).cuda(),), 0


def accumulating():
    return (*mlp()[:2], 3)


def main():
    model, batch, accumulate = {"mlp": mlp, "llama": llama, "accumulating": accumulating}[sys.argv[1]]()
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    steps = []
    torch.cuda.reset_peak_memory_stats()
    for _ in range(3):
        phases = {}

        def ends(phase):
            """Statistics since the last phase ended."""
            known = phases.get(phase, 0)
            phases[phase] = max(known, torch.cuda.max_memory_allocated())
            torch.cuda.reset_peak_memory_stats()

        for _ in range(max(accumulate, 1)):
            inputs = batch()
            ends("other")
            out = model(*inputs)
            loss = (out if isinstance(out, torch.Tensor) else out.logits).float().pow(2).mean()
            ends("forward")
            loss.backward()
            ends("backward")
        optimizer.step()
        ends("optimizer")
        steps.append(phases)
        optimizer.zero_grad()
    print(json.dumps({"steps": steps, "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}))


if __name__ == "__main__":
    main()
