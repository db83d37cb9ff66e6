"""ViT-B/16 of `torchvision` in Lightning, with mixed precision and gradient clipping.

tidemark run --gpu rtx-4090 -- python examples/lightning_vit.py --batch 128
"""

import argparse

import lightning
import torch
from torchvision.models import VisionTransformer


class RandomImages(torch.utils.data.Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return torch.zeros(3, 224, 224), index % 1000


class Classifier(lightning.LightningModule):
    def __init__(self, layers):
        super().__init__()
        self.model = VisionTransformer(image_size=224, patch_size=16, num_layers=layers, num_heads=12, hidden_dim=768, mlp_dim=3072)

    def training_step(self, batch, index):
        images, labels = batch
        loss = torch.nn.functional.cross_entropy(self.model(images), labels, label_smoothing=0.1)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--precision", default="bf16-mixed")
    arguments = parser.parse_args()

    loader = torch.utils.data.DataLoader(RandomImages(arguments.steps * arguments.batch), batch_size=arguments.batch, num_workers=arguments.workers, pin_memory=True)
    trainer = lightning.Trainer(
        accelerator="gpu",
        devices=1,
        precision=arguments.precision,
        max_steps=arguments.steps,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Classifier(arguments.layers), loader)


if __name__ == "__main__":
    main()
