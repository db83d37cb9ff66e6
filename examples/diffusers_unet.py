"""Training the UNet of Stable Diffusion 1.5 (`diffusers`): latents, text states and noise are made here.

tidemark run --gpu a100-40gb -- python examples/diffusers_unet.py --batch 4 --checkpointing
"""

import argparse

import torch
from diffusers import DDPMScheduler, UNet2DConditionModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--latent-size", type=int, default=64, help="an eighth of the image's side")
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    widths = tuple(arguments.width * factor for factor in (1, 2, 4, 4))
    model = UNet2DConditionModel(sample_size=arguments.latent_size, in_channels=4, out_channels=4, block_out_channels=widths, cross_attention_dim=768, attention_head_dim=8).cuda().train()
    if arguments.checkpointing:
        model.enable_gradient_checkpointing()
    scheduler = DDPMScheduler(num_train_timesteps=1000, beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    text_states = torch.zeros(arguments.batch, 77, 768, device="cuda")

    for step in range(arguments.steps):
        latents = torch.randn(arguments.batch, 4, arguments.latent_size, arguments.latent_size, device="cuda")
        noise = torch.randn_like(latents)
        times = torch.randint(0, 1000, (arguments.batch,), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            predicted = model(scheduler.add_noise(latents, noise, times), times, text_states).sample
            loss = torch.nn.functional.mse_loss(predicted.float(), noise)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
