"""Supervised fine-tuning of a Qwen3-0.6B with TRL's SFTTrainer: the tokenizer and the texts are made here, packed or padded.

tidemark run --gpu rtx-3060 -- python examples/trl_sft.py --batch 4 --packing
"""

import argparse
import random
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import SFTConfig, SFTTrainer

WORDS = ["<pad>", "<eos>", "<unk>"] + [f"word{i}" for i in range(1000)]


def tokenizer():
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def texts(count, longest):
    draw = random.Random(0)
    return Dataset.from_list([{"text": " ".join(draw.choices(WORDS[3:], k=draw.randint(longest // 8, longest)))} for _ in range(count)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--packing", action="store_true")
    arguments = parser.parse_args()

    model = Qwen3ForCausalLM(Qwen3Config(hidden_size=1024, intermediate_size=3072, num_hidden_layers=arguments.layers, num_attention_heads=16, num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True))
    with tempfile.TemporaryDirectory() as folder:
        settings = SFTConfig(
            output_dir=folder,
            per_device_train_batch_size=arguments.batch,
            max_length=arguments.sequence,
            packing=arguments.packing,
            max_steps=arguments.steps,
            bf16=True,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
        )
        SFTTrainer(model=model, args=settings, train_dataset=texts(arguments.samples, arguments.sequence), processing_class=tokenizer()).train()


if __name__ == "__main__":
    main()
