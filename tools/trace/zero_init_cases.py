"""ZeRO-3 of models that from_pretrained and from_config make in parts: zero.Init, under transformers' HfDeepSpeedConfig."""

from step_groups import LORA, MODEL, vision, zero3_models
from zero3_cases import leaf_modules


def made_in_parts():
    of_config = {"zero": {"init": "from_config"}}
    ahead = {"zero": {"stage3_param_persistence_threshold": 1000, "stage3_prefetch_bucket_size": 60000}}
    tied = {"model": {**MODEL, "tie_word_embeddings": True}}
    odd = {"model": {**MODEL, "hidden_size": 132, "head_dim": 32, "vocab_size": 1021}, "gpus": 3, "rank": 2}
    both = {"offload_param": "cpu", "offload_optimizer": "cpu"}
    llava = {"model": vision()["llava_lora"]["model"], "images": 1}
    cases = {
        "plain": {}, "config": of_config, "four": {"gpus": 4}, "four_last": {"gpus": 4, "rank": 3}, "one": {**ahead, "gpus": 1}, "odd": odd, "odd_config": {**odd, **of_config}, "ahead": ahead,
        "accumulate": {"grad_accumulation": 2}, "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {**ahead, "checkpointing": "reentrant"},
        "freeze": {**ahead, "freeze": ["embed_tokens", "layers.0."]}, "train_norms": {"train_only": ["norm"]}, "eager": {"attn": "eager"},
        "lora": {"lora": LORA}, "lora_config": {**of_config, "lora": LORA}, "lora_checkpoint": {**ahead, "lora": LORA, "checkpointing": "non_reentrant"},
        "tied": tied, "tied_config": {**tied, **of_config}, "tied_four": {**tied, **ahead, "gpus": 4, "rank": 1}, "tied_lora": {**tied, "lora": LORA},
        "offload": {"zero": {"offload_optimizer": "cpu"}}, "offload_param": {"zero": {"offload_param": "cpu"}}, "offload_both": {"zero": both, "gpus": 4}, "offload_both_config": {"zero": {**both, "init": "from_config"}},
        "offload_lora": {"zero": both, "lora": LORA}, "wide": {"model": {**MODEL, "hidden_size": 1536, "intermediate_size": 4864, "num_hidden_layers": 1, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 24000}, "batch": 1},
        "classifier": {"model": {**MODEL, "pad_token_id": 0, "num_labels": 3}, "head": "sequence_classification"},
        "llava": llava, "llava_config": {**llava, **of_config}, "llava_pretrain": {**llava, "train_only": ["multi_modal_projector"]}, "llava_lora": vision()["llava_lora"],
        **{f"leaf_{name}": leaf_modules()[f"zero3_leaf_{name}"] for name in ("mixtral", "qwen3_moe", "qwen2_moe", "mixtral_lora")},
        **{f"model_{name}": options for name, options in zero3_models().items() if not name.endswith(("_eager", "_checkpoint", "_reentrant")) and name not in REFUSED},
        **{f"rope_{name}": {"model": {**MODEL, "rope_parameters": {"rope_theta": 10000.0, **rope}}} for name, rope in ROPES.items()},
    }
    engine = {"plain": {}, "config": of_config, "lora": {"lora": LORA}, "checkpoint": {"checkpointing": "non_reentrant"}, "tied": tied, "offload_both": {"zero": both}, "accumulate": {"grad_accumulation": 2}}
    cases |= {f"trainer_{name}": {"loop": "trainer", "gpus": 4, **options} for name, options in engine.items()}
    return {f"zero3_init_{name}": {"gpus": 2, "parallel": "zero3", **options, "zero": {"init": "from_pretrained", **options.get("zero", {})}} for name, options in cases.items()}


# What a buffer of theirs takes is not known, or how a rotary embedding goes on with one that is not fp32.
REFUSED = ("codegen", "gpt_neo", "gpt_bigcode", "qwen2_vl", "qwen2_vl_frozen")
ROPES = {
    "linear": {"rope_type": "linear", "factor": 2.0}, "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
    "longrope": {"rope_type": "longrope", "short_factor": [1.0] * 16, "long_factor": [2.0] * 16, "original_max_position_embeddings": 32},
}
