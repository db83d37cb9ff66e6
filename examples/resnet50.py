"""ResNet-50 of `torchvision` with automatic mixed precision and SGD.

tidemark run --gpu rtx-3090 -- python examples/resnet50.py --batch 256
"""

import argparse

import torch
import torchvision


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--benchmark", action="store_true", help="let cuDNN time its algorithms")
    arguments = parser.parse_args()

    torch.backends.cudnn.benchmark = arguments.benchmark
    layout = torch.channels_last if arguments.channels_last else torch.contiguous_format
    model = torchvision.models.resnet50().cuda().to(memory_format=layout).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    images = torch.zeros(arguments.batch, 3, arguments.image_size, arguments.image_size)
    labels = torch.randint(0, 1000, (arguments.batch,))

    for step in range(arguments.steps):
        with torch.autocast("cuda", dtype=torch.float16):
            predictions = model(images.cuda(non_blocking=True).to(memory_format=layout))
            loss = torch.nn.functional.cross_entropy(predictions, labels.cuda(non_blocking=True))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
