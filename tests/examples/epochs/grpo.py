"""TRL's GRPO on prompts of many lengths."""

import tempfile

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from words import model, texts, tokenizer


def reward(completions, **_):
    return [float(len(completion)) for completion in completions]


with tempfile.TemporaryDirectory() as folder:
    settings = GRPOConfig(folder, per_device_train_batch_size=4, num_generations=4, max_completion_length=8, num_train_epochs=1, bf16=True, report_to=[], save_strategy="no")
    GRPOTrainer(model=model(), reward_funcs=reward, args=settings, train_dataset=Dataset.from_dict({"prompt": texts(76, 10, 120)}), processing_class=tokenizer(padding_side="left")).train()
