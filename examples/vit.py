"""ViT-L/16 of `transformers` in a plain loop: mixed precision, a fused optimizer, and an average of the weights (EMA).

tidemark run --gpu l40s -- python examples/vit.py --batch 64
"""

import argparse

import torch
from transformers import ViTConfig, ViTForImageClassification


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--ema", action="store_true", help="keep a moving average of the weights")
    arguments = parser.parse_args()

    model = ViTForImageClassification(ViTConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=arguments.layers, num_attention_heads=16, num_labels=1000)).cuda().train()
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)) if arguments.ema else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
    images, labels = torch.zeros(arguments.batch, 3, 224, 224), torch.randint(0, 1000, (arguments.batch,))

    for step in range(arguments.steps):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(pixel_values=images.cuda(), labels=labels.cuda()).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if average is not None:
            average.update_parameters(model)
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
