"""Tiny configurations, and the table of what was captured of them; without torch."""

import json

import models
from tiny import merged, shrunk


def test_sizes_are_small_and_go_together():
    keys = shrunk(
        {
            "vocab_size": 151936,
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "num_hidden_layers": 36,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "hidden_act": "silu",
            "tie_word_embeddings": False,
            "rms_norm_eps": 1e-6,
            "max_position_embeddings": 40960,
            "bos_token_id": 151643,
            "eos_token_id": 151645,
            "pad_token_id": None,
        }
    )
    assert keys == {
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 1024,
        "bos_token_id": 200,
        "eos_token_id": 201,
        "pad_token_id": None,
    }


def test_as_many_heads_of_keys_as_of_queries_stay_so():
    assert shrunk({"num_attention_heads": 32, "num_key_value_heads": 32}) == {"num_attention_heads": 4, "num_key_value_heads": 4}


def test_one_layer_of_each_kind_is_left():
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    assert shrunk({"num_hidden_layers": 12, "layer_types": kinds * 2}) == {"num_hidden_layers": 3, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]}


def test_parts_of_a_configuration_are_small_too():
    keys = shrunk({"text_config": {"hidden_size": 4096, "eos_token_id": 128009}, "vision_config": {"image_size": 336, "patch_size": 14, "num_hidden_layers": 24}, "image_token_index": 32000})
    assert keys == {"text_config": {"hidden_size": 64, "eos_token_id": 200}, "vision_config": {"image_size": 32, "patch_size": 8, "num_hidden_layers": 4}, "image_token_index": 201}


def test_overrides_go_into_parts():
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 5}, "d": {"e": 6}}) == {"a": {"b": 5, "c": 2}, "d": {"e": 6}}


def test_the_table_tells_what_was_captured_and_why_the_rest_was_not(tmp_path):
    done = {"class": "LlamaForCausalLM", "points": "4", "unsolved": "0", "transformers": "5.17.0", "torch": "2.11.0", "lines": 329, "functions": {"torch.cat": 2, "torch.Tensor.mul": 9}, "applied": []}
    rows = {"llama": done, "mamba": {**done, "class": "MambaForCausalLM", "points": "1", "concrete": "a | b", "applied": ["Scan"]}, "sam": {"failed": "capture: no loss"}}
    for kind, row in rows.items():
        (tmp_path / f"{kind}.json").write_text(json.dumps(row))
    models.table(tmp_path, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "2 of 3 model types are captured; in 1 of them every number is solved" in page and "They call 2 torch functions." in page
    assert "| llama | LlamaForCausalLM | 329 | 2 | solved |" in page
    assert "| mamba | MambaForCausalLM | 329 | 2, and Scan | concrete: a / b |" in page and "| sam | capture: no loss |" in page
