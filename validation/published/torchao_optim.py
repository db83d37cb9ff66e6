"""A vision transformer finetuned with optimizers whose states are small or on the host, as torchao's README measures them.

    python torchao_optim.py MODEL OPTIMIZER BATCH [--amp | --bf16] [--compile] [--checkpointing] [--offload states|gradients]

What benchmarks/benchmark_low_bit_adam.py of pytorch/ao does (at aacaf9b3e for ViT-H, at 1b1e94c5b for ViT-Giant), in our words.  What differs: images are made up,
weights are not read, and accuracy is not evaluated, which keeps nothing for a backward pass.
"""

import argparse
import functools

import bitsandbytes
import timm
import torch
import torch.nn.functional as F
from torchao.prototype import low_bit_optim

OPTIMIZERS = {"adamw": functools.partial(torch.optim.AdamW, fused=True), "bnb-8bit": bitsandbytes.optim.AdamW8bit, "ao-8bit": low_bit_optim.AdamW8bit, "ao-fp8": low_bit_optim.AdamWFp8, "ao-4bit": low_bit_optim.AdamW4bit}
MODELS = {"vit_huge_patch14_224.orig_in21k": {}, "vit_giant_patch14_dinov2.lvd142m": {"img_size": 224}}
CLASSES, SIDE, STEPS = 45, 224, 20  # resisc45; what the program's transforms cut images to


def made_model(arguments):
    model = timm.create_model(arguments.model, pretrained=False, num_classes=CLASSES, **MODELS[arguments.model])
    if arguments.checkpointing:
        model.set_grad_checkpointing()
    if arguments.bf16:
        model.bfloat16()
    model.cuda()
    if arguments.compile:
        model.compile(fullgraph=True)
    return model


def made_optimizer(arguments, model):
    optimizer = OPTIMIZERS[arguments.optimizer]
    if arguments.offload:
        optimizer = functools.partial(low_bit_optim.CPUOffloadOptimizer, optimizer_class=optimizer, **({"offload_gradients": True} if arguments.offload == "gradients" else {}))
    return optimizer(model.parameters(), lr=1e-4, weight_decay=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("optimizer", choices=OPTIMIZERS)
    parser.add_argument("batch", type=int)
    parser.add_argument("--amp", action="store_true", help="autocast in bf16 over fp32")
    parser.add_argument("--bf16", action="store_true", help="everything in bf16")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--offload", choices=["states", "gradients"])
    arguments = parser.parse_args()
    model = made_model(arguments)
    optimizer = made_optimizer(arguments, model)
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    model.train()
    for step in range(STEPS):
        image, label = torch.randn(arguments.batch, 3, SIDE, SIDE).pin_memory(), torch.randint(0, CLASSES, (arguments.batch,)).pin_memory()
        image = image.bfloat16() if arguments.bf16 else image
        with torch.autocast("cuda", dtype=torch.bfloat16 if arguments.amp else None, enabled=arguments.amp):
            loss = F.cross_entropy(model(image.cuda()), label.cuda())
        scaler.scale(loss).backward()
        if step % 100 == 0:
            print("loss", loss.item())
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
