"""Run by test_config_keys.py under `tidemark run`: a configuration whose fields have other names than its code asks for, as transformers' Qwen3VLVisionConfig."""

import ast

from tidemark.capture.config_keys import _taken_of

FIELDS = {"num_attention_heads": "num_heads"}


def taken(default):
    return _taken_of([ast.parse(default, mode="eval").body], "head_dim", "vision_config.", {"hidden_size", "num_heads", *FIELDS}, FIELDS)


for default in ("config.hidden_size // config.num_attention_heads", "None", "config.num_attention_heads"):
    print(taken(default))
