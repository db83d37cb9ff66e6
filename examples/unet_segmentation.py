"""A U-Net for segmentation, written out here, trained in fp32 with Adam on cross-entropy and the Dice loss.

tidemark run --gpu rtx-3060 -- python examples/unet_segmentation.py --batch 4 --image-size 512
"""

import argparse

import torch
from torch import nn


def double_convolution(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, classes, width=64, depth=4):
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.down = nn.ModuleList(double_convolution(inputs, outputs) for inputs, outputs in zip([3] + widths, widths))
        self.widen = nn.ModuleList(nn.ConvTranspose2d(w, w // 2, 2, stride=2) for w in reversed(widths[1:]))
        self.up = nn.ModuleList(double_convolution(w, w // 2) for w in reversed(widths[1:]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skipped = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skipped.append(x)
        skipped.pop()
        for widen, block in zip(self.widen, self.up):
            x = block(torch.cat((skipped.pop(), widen(x)), dim=1))
        return self.head(x)


def dice_loss(logits, masks):
    found = logits.softmax(dim=1)
    truth = nn.functional.one_hot(masks, logits.shape[1]).permute(0, 3, 1, 2).float()
    shared = (found * truth).sum((0, 2, 3))
    return 1 - (2 * shared / (found.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + 1e-6)).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--image-size", type=int, default=512)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    model = UNet(arguments.classes, arguments.width).cuda().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    size = (arguments.batch, arguments.image_size, arguments.image_size)
    images, masks = torch.zeros(size[0], 3, *size[1:]), torch.randint(0, arguments.classes, size)

    for step in range(arguments.steps):
        logits, truth = model(images.cuda()), masks.cuda()
        loss = nn.functional.cross_entropy(logits, truth) + dice_loss(logits, truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
