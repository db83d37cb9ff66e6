"""Fine-tuning a pretrained GPT-2 of which only the configuration is at hand: `--fake-weights` stands in for the checkpoint.

tidemark run --gpu rtx-3060 --fake-weights -- python examples/gpt2_from_pretrained.py --batch 4
"""

import argparse
import tempfile

import torch
from transformers import AutoModelForCausalLM, GPT2Config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", help="a folder with a config.json; without one, GPT-2 medium's is written to a temporary folder")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        if arguments.model is None:
            GPT2Config(n_embd=1024, n_layer=24, n_head=16).save_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(arguments.model or folder, torch_dtype=torch.bfloat16, device_map="cuda").train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    input_ids = torch.randint(0, 50000, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = input_ids.cuda()
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
