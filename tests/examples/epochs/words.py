"""A tokenizer of made-up words, texts of many lengths and a tiny Qwen3, for TRL's trainers."""

import random

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

WORDS = [f"w{i}" for i in range(100, 300)]


def tokenizer(**options):
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *WORDS])}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", **options)


def texts(count, shortest, longest):
    random.seed(0)
    return [" ".join(random.choices(WORDS, k=random.randint(shortest, longest))) for _ in range(count)]


def model():
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=256, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=32, bos_token_id=None, eos_token_id=1, pad_token_id=0))
