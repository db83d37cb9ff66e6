"""LLaVA-1.5-7B, stage 2: the language model and the projector are trained, the vision tower stays frozen.

tidemark run --gpu h200 -- python examples/llava_finetune.py --batch 4 --sequence 2048 --checkpointing
"""

from llava_pretrain import train

if __name__ == "__main__":
    train(lambda name: "vision_tower" not in name, learning_rate=2e-5)
