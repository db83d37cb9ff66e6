"""LLaVA-1.5-7B, stage 1: only the projector between CLIP ViT-L/14-336 and Vicuna-7B is trained.

A plain PyTorch loop on `transformers`; the configuration is written in, no weights are needed:

    tidemark run --gpu h100-80gb -- python examples/llava_pretrain.py --batch 16 --sequence 1024 --checkpointing
"""

import argparse

import torch
from transformers import LlavaConfig, LlavaForConditionalGeneration

IMAGE_TOKENS = 576  # (336 / 14)^2 patches, the class token dropped
IMAGE_TOKEN_ID = 32000

CONFIG = dict(
    image_token_index=IMAGE_TOKEN_ID,
    vision_config=dict(model_type="clip_vision_model", hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, image_size=336, patch_size=14, projection_dim=768),
    text_config=dict(model_type="llama", hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32, vocab_size=32064, max_position_embeddings=4096),
)


def batches(batch, sequence):
    """Endless made-up conversations: one image each, 576 placeholders, then text; the image and the padding carry no label."""
    input_ids = torch.randint(1, 31999, (batch, sequence))
    input_ids[:, 1 : 1 + IMAGE_TOKENS] = IMAGE_TOKEN_ID
    labels = input_ids.masked_fill(input_ids == IMAGE_TOKEN_ID, -100)
    while True:
        yield {"input_ids": input_ids, "attention_mask": torch.ones_like(input_ids), "labels": labels, "pixel_values": torch.zeros(batch, 3, 336, 336, dtype=torch.bfloat16)}


def both_passes(model, rows):
    """The loss, after its gradients; of the batch nothing stays on the GPU."""
    batch = {key: value.cuda() for key, value in rows.items()}
    loss = model(**batch).loss
    loss.backward()
    return loss.item()


def train(trainable, learning_rate):
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = LlavaForConditionalGeneration(LlavaConfig(**CONFIG))
    torch.set_default_dtype(torch.float32)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(trainable(name))
    model.cuda().train()
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=learning_rate)

    for step, rows in zip(range(arguments.steps), batches(arguments.batch, arguments.sequence)):
        loss = both_passes(model, rows)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss:.3f}", flush=True)


if __name__ == "__main__":
    train(lambda name: "multi_modal_projector" in name, learning_rate=1e-3)
