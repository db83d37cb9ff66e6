"""PEFT's comparison of methods on image generation: the transformer of FLUX.2-klein-base-4B on cached latents and prompts, with gradient checkpointing.

    python peft_image.py METHOD

What method_comparison/image-gen/run.py of huggingface/peft does at 5d602fdbf with experiments/METHOD, in our words.  What differs: the text encoder and the VAE, which are
gone before the memory is measured, are not loaded, and their results are made up in their shapes; weights are left as they come; of the evaluations, whose memory is
not counted, only the emptied cache and the new start of the peak remain.
"""

import argparse

import torch
from diffusers import Flux2KleinPipeline, Flux2Transformer2DModel
from peft import BOFTConfig, LNTuningConfig, LoKrConfig, LoraConfig, MissConfig, OFTConfig, RandLoraConfig, VeraConfig, get_peft_model
from transformers import Dinov2Config, Dinov2Model

# "klein-4b" of scripts/convert_flux2_to_diffusers.py in diffusers; 3,875,544,576 parameters, as the results say.
TRANSFORMER = {
    "patch_size": 1,
    "in_channels": 128,
    "num_layers": 5,
    "num_single_layers": 20,
    "attention_head_dim": 128,
    "num_attention_heads": 24,
    "joint_attention_dim": 7680,
    "timestep_guidance_channels": 256,
    "mlp_ratio": 3.0,
    "axes_dims_rope": (32, 32, 32, 32),
    "rope_theta": 2000,
    "eps": 1e-6,
    "guidance_embeds": False,
}
TARGETS = ["to_out.0", "to_add_out", "to_qkv_mlp_proj", "add_k_proj", "add_q_proj", "add_v_proj", "to_k", "to_q", "to_v", "linear_in", "linear_out"]
# experiments/*/adapter_config.json, without what is PEFT's default
METHODS = {
    "full": lambda: None,
    "lora": lambda: LoraConfig(r=32, lora_alpha=32, target_modules=TARGETS),
    "dora": lambda: LoraConfig(r=64, lora_alpha=64, use_dora=True, target_modules=TARGETS),
    "ln_tuning": lambda: LNTuningConfig(target_modules=["norm_q", "norm_k"]),
    "lokr": lambda: LoKrConfig(r=32, alpha=32, target_modules=TARGETS),
    "oft": lambda: OFTConfig(r=0, oft_block_size=32, use_cayley_neumann=True, num_cayley_neumann_terms=5, target_modules=TARGETS),
    "vera": lambda: VeraConfig(r=32, vera_dropout=0.0, target_modules=TARGETS),
    "boft": lambda: BOFTConfig(boft_block_size=4, boft_block_num=0, boft_n_butterfly_factor=2, target_modules=TARGETS),
    "randlora": lambda: RandLoraConfig(r=32, randlora_alpha=640, target_modules=TARGETS),
    "miss": lambda: MissConfig(r=32, mini_r=1, target_modules=TARGETS),
}
BATCH, SAMPLES, STEPS, EVALUATION = 2, 14, 12, 4


def made_transformer(method):
    with torch.device("meta"):
        transformer = Flux2Transformer2DModel(**TRANSFORMER).to(torch.bfloat16)
    transformer = transformer.to_empty(device="cpu")
    assert sum(p.numel() for p in transformer.parameters()) == 3_875_544_576
    transformer.enable_gradient_checkpointing()
    transformer.to("cuda")
    config = METHODS[method]()
    if config is None:
        transformer.requires_grad_(True)
    else:
        transformer = get_peft_model(transformer, config, autocast_adapter_dtype=True)
    transformer.to("cpu")
    torch.cuda.empty_cache()
    return transformer.train()


def step(transformer, optimizer, caches, chosen, losses):
    latents, prompts, text_ids = (cache.index_select(0, chosen) for cache in caches)
    image_ids = Flux2KleinPipeline._prepare_latent_ids(latents).to(latents.device)
    noise = torch.randn_like(latents)
    timesteps = torch.rand(BATCH).to(latents.device)
    sigmas = torch.rand(BATCH, 1, 1, 1, dtype=latents.dtype).to("cuda")
    noisy = (1.0 - sigmas) * latents + sigmas * noise
    packed = Flux2KleinPipeline._pack_latents(noisy)
    optimizer.zero_grad(set_to_none=True)
    predicted = transformer(hidden_states=packed, timestep=timesteps / 1000, guidance=None, encoder_hidden_states=prompts, txt_ids=text_ids, img_ids=image_ids, return_dict=False)[0]
    predicted = predicted[:, : packed.size(1)]
    predicted = Flux2KleinPipeline._unpack_latents_with_ids(predicted, image_ids)
    weighting = torch.ones_like(sigmas)
    target = noise - latents
    loss = torch.mean((weighting.float() * (predicted.float() - target.float()) ** 2).reshape(BATCH, -1), 1).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(transformer.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.detach())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=METHODS)
    transformer = made_transformer(parser.parse_args().method)
    judge = Dinov2Model(Dinov2Config(image_size=518)).to("cuda").eval()  # facebook/dinov2-base, which scores the images: in fp32, on the card throughout
    optimizer = torch.optim.AdamW(transformer.parameters(), lr=1e-4, weight_decay=1e-4)
    # 512 x 512 pixels are 32 x 32 latents of 128 channels; prompts are padded to 512 tokens of three layers' states.
    caches = (torch.randn(SAMPLES, 128, 32, 32, dtype=torch.bfloat16, device="cuda"), torch.randn(SAMPLES, 512, 7680, dtype=torch.bfloat16, device="cuda"), torch.zeros(SAMPLES, 512, 4, dtype=torch.int64, device="cuda"))
    indices = torch.cat([torch.randperm(SAMPLES) for _ in range(STEPS)]).cuda()
    transformer.to("cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    losses, highest = [], 0
    for number in range(1, STEPS + 1):
        step(transformer, optimizer, caches, indices[(number - 1) * BATCH : number * BATCH], losses)
        if number % EVALUATION == 0:
            highest = max(highest, torch.cuda.max_memory_reserved())
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
    print("accelerator_memory_max", highest)
    del judge


if __name__ == "__main__":
    main()
