"""LoRA on Qwen2.5-VL-7B with `peft`: images of several sizes in one batch, adapters in the language model only.

tidemark run --gpu a100-80gb -- python examples/qwen2_5_vl_lora.py --batch 4 --images 1 --checkpointing
"""

import argparse
import inspect

import torch
from peft import LoraConfig, get_peft_model
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

IMAGE_TOKEN_ID, VISION_START_ID, VISION_END_ID = 151655, 151652, 151653
GRIDS = ((1, 46, 68), (1, 36, 36), (1, 24, 58))  # time, height, width of an image in patches of 14 pixels


def config(layers, vision_layers):
    return Qwen2_5_VLConfig(
        image_token_id=IMAGE_TOKEN_ID,
        vocab_size=152064,
        vision_start_token_id=VISION_START_ID,
        text_config=dict(hidden_size=3584, intermediate_size=18944, num_hidden_layers=layers, num_attention_heads=28, num_key_value_heads=4, vocab_size=152064, rope_theta=1e6, rope_scaling={"type": "mrope", "mrope_section": [16, 24, 24]}),
        vision_config=dict(depth=vision_layers, hidden_size=1280, intermediate_size=3420, num_heads=16, out_hidden_size=3584, fullatt_block_indexes=[7, 15, 23, 31]),
    )


def batches(batch, images):
    """Endless made-up samples: `images` images, each between its two marks, then a hundred tokens of text; padded on the right."""
    rows, grids = [], []
    for sample in range(batch):
        row = []
        for image in range(images):
            grid = GRIDS[(sample * images + image) % len(GRIDS)]
            grids.append(grid)
            row += [VISION_START_ID] + [IMAGE_TOKEN_ID] * (grid[1] * grid[2] // 4) + [VISION_END_ID]
        rows.append(torch.tensor(row + torch.randint(1, 150000, (100,)).tolist()))
    input_ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    grids = torch.tensor(grids)
    taken = inspect.signature(Qwen2_5_VLForConditionalGeneration.forward).parameters  # before transformers 5 no mm_token_type_ids
    while True:
        made = {
            "input_ids": input_ids,
            "attention_mask": (input_ids != 0).long(),
            "mm_token_type_ids": (input_ids == IMAGE_TOKEN_ID).long(),
            "labels": input_ids.masked_fill((input_ids == IMAGE_TOKEN_ID) | (input_ids == 0), -100),
            "pixel_values": torch.zeros(int(grids.prod(-1).sum()), 3 * 2 * 14 * 14),
            "image_grid_thw": grids,
        }
        yield {name: value for name, value in made.items() if name in taken}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--images", type=int, default=1, help="images per sample")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--vision-layers", type=int, default=32)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = Qwen2_5_VLForConditionalGeneration(config(arguments.layers, arguments.vision_layers))
    torch.set_default_dtype(torch.float32)
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    adapters = LoraConfig(r=arguments.rank, lora_alpha=2 * arguments.rank, lora_dropout=0.05, target_modules=r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)")
    model = get_peft_model(model, adapters)
    model.cuda().train()
    model.print_trainable_parameters()
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-4)

    for step, batch in zip(range(arguments.steps), batches(arguments.batch, arguments.images)):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**{key: value.cuda() for key, value in batch.items()}).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
