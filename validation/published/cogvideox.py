"""CogVideoX finetuned on cached latents and prompts of 49 frames of 480 x 720, as the memory tables of finetrainers' first scripts measure it.

    python cogvideox.py 2b|5b RANK|full BATCH [--checkpointing] [--optimizer adamw|adamw8bit|offloaded]

What cogvideox_text_to_video_{lora,sft}.py of finetrainers do (examples/_legacy/training at f476c37) with --load_tensors and --mixed_precision fp16, in our words.  What
differs: T5 and the VAE, which are deleted before the first step and are smaller than what follows, are not loaded; weights are left as they come.
"""

import argparse

import torch
from accelerate import Accelerator
from diffusers import CogVideoXDPMScheduler, CogVideoXTransformer3DModel
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
from diffusers.models.embeddings import get_3d_rotary_pos_embed
from diffusers.training_utils import cast_training_params
from peft import LoraConfig

# What differs from the class's defaults, which are the 2b model: scripts/convert_cogvideox_to_diffusers.py of diffusers says which options make the 5b one.
MODELS = {"2b": {}, "5b": {"num_layers": 42, "num_attention_heads": 48, "use_rotary_positional_embeddings": True}}
FRAMES, HEIGHT, WIDTH, TEXT = 13, 60, 90, 226  # of latents: 49 / 4 + 1, 480 / 8, 720 / 8; and tokens of a prompt
STEPS, HALF = 20, torch.float16


def made_transformer(name, rank, checkpointing):
    with torch.device("meta"):
        transformer = CogVideoXTransformer3DModel(**MODELS[name])
    transformer = transformer.to_empty(device="cpu").to("cuda", dtype=HALF)
    transformer.requires_grad_(rank == "full")
    if checkpointing:
        transformer.enable_gradient_checkpointing()
    if rank != "full":
        transformer.add_adapter(LoraConfig(r=int(rank), lora_alpha=int(rank), init_lora_weights=True, target_modules=["to_k", "to_q", "to_v", "to_out.0"]))
    cast_training_params([transformer], dtype=torch.float32)
    return transformer


def made_optimizer(name, parameters):
    settings = {"lr": 1e-4, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 1e-3}
    if name == "adamw8bit":
        import bitsandbytes

        return bitsandbytes.optim.AdamW8bit(parameters, **settings)
    if name == "offloaded":
        from torchao.prototype.low_bit_optim import CPUOffloadOptimizer

        return CPUOffloadOptimizer(parameters, optimizer_class=torch.optim.AdamW, offload_gradients=True, fused=True, **settings)
    return torch.optim.AdamW(parameters, **settings)


def gradient_norm(parameters):
    return sum(p.grad.detach().data.norm(2).item() ** 2 for p in parameters if p.grad is not None) ** 0.5


def rotary(config):
    if not config.use_rotary_positional_embeddings:
        return None
    grid = (HEIGHT // config.patch_size, WIDTH // config.patch_size)
    cos, sin = get_3d_rotary_pos_embed(embed_dim=config.attention_head_dim, crops_coords=((0, 0), grid), grid_size=grid, temporal_size=FRAMES)
    return cos.to("cuda"), sin.to("cuda")


def one_step(accelerator, transformer, config, optimizer, scheduler, alphas, batch):
    videos = torch.randn(batch, 32, FRAMES, HEIGHT, WIDTH, dtype=HALF).pin_memory().to("cuda", non_blocking=True)  # means and logarithms of variances
    videos = DiagonalGaussianDistribution(videos).sample() * 1.15258426
    videos = videos.permute(0, 2, 1, 3, 4).to(memory_format=torch.contiguous_format, dtype=HALF)
    model_input = videos
    prompts = torch.randn(batch, TEXT, 4096, dtype=HALF).pin_memory().to("cuda")
    noise = torch.randn_like(model_input)
    timesteps = torch.randint(0, scheduler.config.num_train_timesteps, (batch,), dtype=torch.int64, device="cuda")
    noisy = scheduler.add_noise(model_input, noise, timesteps)
    output = transformer(hidden_states=noisy, encoder_hidden_states=prompts, timestep=timesteps, image_rotary_emb=rotary(config), return_dict=False)[0]
    predicted = scheduler.get_velocity(output, noisy, timesteps)
    weights = 1 / (1 - alphas[timesteps])
    while len(weights.shape) < len(predicted.shape):
        weights = weights.unsqueeze(-1)
    loss = torch.mean((weights * (predicted - model_input) ** 2).reshape(batch, -1), dim=1).mean()
    accelerator.backward(loss)
    gradient_norm(transformer.parameters())
    accelerator.clip_grad_norm_(transformer.parameters(), 1.0)
    gradient_norm(transformer.parameters())
    optimizer.step()
    optimizer.zero_grad()
    return {name: value for name, value in locals().items() if isinstance(value, torch.Tensor)}  # one long function there: its variables live until they are bound again


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("rank", help="of LoRA, or `full`")
    parser.add_argument("batch", type=int)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--optimizer", choices=["adamw", "adamw8bit", "offloaded"], default="adamw")
    arguments = parser.parse_args()
    accelerator = Accelerator(mixed_precision="fp16")
    transformer = made_transformer(arguments.model, arguments.rank, arguments.checkpointing)
    config, scheduler = transformer.config, CogVideoXDPMScheduler()
    optimizer = made_optimizer(arguments.optimizer, [p for p in transformer.parameters() if p.requires_grad])
    transformer, optimizer = accelerator.prepare(transformer, optimizer)
    alphas = scheduler.alphas_cumprod.to("cuda", dtype=torch.float32)
    transformer.train()
    for _ in range(STEPS):
        kept = one_step(accelerator, transformer, config, optimizer, scheduler, alphas, arguments.batch)
    del kept


if __name__ == "__main__":
    main()
