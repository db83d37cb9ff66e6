"""Llama-3.2-1B from scratch with the `transformers` Trainer: bf16 autocast, gradient checkpointing and accumulation.

tidemark run --gpu a40 -- python examples/llama_trainer.py --batch 4 --sequence 2048 --checkpointing
"""

import argparse
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

CONFIG = dict(
    hidden_size=2048,
    intermediate_size=8192,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=64,
    vocab_size=128256,
    max_position_embeddings=131072,
    tie_word_embeddings=True,
    rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
)


class RandomTokens(torch.utils.data.Dataset):
    def __init__(self, samples, sequence):
        self.samples, self.sequence = samples, sequence

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        input_ids = torch.randint(0, 128000, (self.sequence,))
        return {"input_ids": input_ids, "labels": input_ids}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--optimizer", default="adamw_torch_fused")
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    model = LlamaForCausalLM(LlamaConfig(num_hidden_layers=arguments.layers, **CONFIG))
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=arguments.batch,
            gradient_accumulation_steps=arguments.accumulation,
            gradient_checkpointing=arguments.checkpointing,
            max_steps=arguments.steps,
            bf16=True,
            optim=arguments.optimizer,
            learning_rate=2e-4,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
        )
        dataset = RandomTokens(arguments.steps * arguments.batch * arguments.accumulation, arguments.sequence)
        Trainer(model=model, args=settings, train_dataset=dataset).train()


if __name__ == "__main__":
    main()
