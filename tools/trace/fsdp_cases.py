"""Cases of record_steps.py whose parameters are sharded by FSDP."""

from step_groups import LORA, MODEL, classifiers, grids, older_families, vision


def fully_sharded():
    """FSDP2: when parameters are gathered and let go of, in which types, and what a shard is."""
    policy = {"param_dtype": "bf16", "reduce_dtype": "fp32"}
    mixed, frozen = {"dtype": "fp32", "fsdp2": policy}, {"freeze": ["embed_tokens", "layers.0."]}
    ways = lambda how: {"fsdp2": {"reshard_after_forward": how}}
    apart = {"fsdp2": {"requires_gradient_sync": False}, "grad_accumulation": 3}
    odd = {"model": {**MODEL, "hidden_size": 132, "head_dim": 32, "vocab_size": 1021}}
    llava = vision()["llava_lora"]["model"]
    return {"fsdp2_" + name: {"gpus": 2, "parallel": "fsdp2", **options} for name, options in {
        "plain": {}, "mixed": mixed, "one": {"gpus": 1}, "one_mixed": {**mixed, "gpus": 1}, "four": {"gpus": 4}, "eight": {**mixed, "gpus": 8},
        "last": {**odd, "gpus": 8, "rank": 7}, "odd": {**odd, "gpus": 3}, "odd_mixed": {**odd, **mixed, "gpus": 3, "rank": 1},
        "fewer_rows_than_ranks": {"model": {**MODEL, "num_key_value_heads": 1, "head_dim": 8}, "gpus": 64, "rank": 40},
        "reshard": ways("true"), "keep": ways("false"), "reshard_mixed": {"dtype": "fp32", "fsdp2": {**policy, "reshard_after_forward": "true"}},
        "keep_mixed": {"dtype": "fp32", "fsdp2": {**policy, "reshard_after_forward": "false"}},
        "reshard_two": {**ways("2"), "gpus": 4}, "reshard_two_mixed": {"dtype": "fp32", "fsdp2": {**policy, "reshard_after_forward": "2"}, "gpus": 4},
        "reduce_low": {"dtype": "fp32", "fsdp2": {"param_dtype": "bf16"}}, "reduce_high": {"fsdp2": {"reduce_dtype": "fp32"}}, "fp32": {"dtype": "fp32"},
        "amp": {"dtype": "fp32", "autocast": "bf16"}, "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_mixed": {**mixed, "checkpointing": "non_reentrant"},
        "checkpoint_2": {**mixed, "checkpointing": "non_reentrant", "checkpoint_every": 2}, "reentrant": {"checkpointing": "reentrant"},
        "checkpoint_keep": {**ways("false"), "checkpointing": "non_reentrant"}, "reentrant_keep": {**ways("false"), "checkpointing": "reentrant"},
        "reentrant_mixed": {**mixed, "checkpointing": "reentrant"}, "accumulate": {"grad_accumulation": 3}, "accumulate_mixed": {**mixed, "grad_accumulation": 2},
        "apart": apart, "apart_mixed": {"dtype": "fp32", "fsdp2": {**policy, **apart["fsdp2"]}, "grad_accumulation": 3},
        "apart_checkpoint": {**apart, "checkpointing": "non_reentrant"}, "clip": {"max_grad_norm": 1.0}, "clip_mixed": {**mixed, "max_grad_norm": 1.0},
        "clip_one": {"max_grad_norm": 1.0, "gpus": 1}, "clip_odd": {**odd, "max_grad_norm": 1.0, "gpus": 8, "rank": 7}, "fused": {"optimizer_impl": "fused"}, "fused_mixed": {**mixed, "optimizer_impl": "fused"},
        "loop": {"optimizer_impl": "loop"}, "adam_decay": {"optimizer": "adam", "weight_decay": 0.1}, "sgd": {"optimizer": "sgd", "momentum": 0.9},
        "lora": {"lora": LORA}, "lora_mixed": {**mixed, "lora": LORA}, "lora_bf16_mixed": {"fsdp2": policy, "lora": LORA}, "lora_checkpoint": {"lora": LORA, "checkpointing": "non_reentrant", "max_grad_norm": 1.0},
        "lora_reentrant": {"lora": LORA, "checkpointing": "reentrant"}, "freeze": frozen, "freeze_mixed": {**mixed, **frozen, "checkpointing": "non_reentrant"}, "train_last": {"train_only": ["lm_head"]},
        "freeze_reentrant": {**frozen, "checkpointing": "reentrant"},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "before_forward": {"zero_grad": "before_forward"}, "fill_zeros": {"set_to_none": False}, "steps": {"steps": 5},
        "offload": {"fsdp2": {"offload_policy": "cpu"}}, "offload_mixed": {"dtype": "fp32", "fsdp2": {**policy, "offload_policy": "cpu"}, "gpus": 4, "grad_accumulation": 2}, "offload_one": {"fsdp2": {**policy, "offload_policy": "cpu"}, "dtype": "fp32", "gpus": 1},
        "offload_checkpoint": {"fsdp2": {"offload_policy": "cpu"}, "checkpointing": "non_reentrant", "load": "wrapped"}, "offload_reshard_two": {"fsdp2": {**policy, "offload_policy": "cpu", "reshard_after_forward": "2"}, "dtype": "fp32", "gpus": 4},
        "wrapped": {"load": "wrapped"}, "wrapped_mixed": {**mixed, "load": "wrapped", "gpus": 8}, "wrapped_lora": {"load": "wrapped", "lora": LORA}, "wrapped_one": {"load": "wrapped", "gpus": 1},
        "wrapped_tied": {"load": "wrapped", "model": {**MODEL, "tie_word_embeddings": True}}, "wrapped_llava": {"load": "wrapped", "model": llava, "images": 1, "freeze": ["vision_tower"]},
        "llava": {"model": llava, "images": 1}, "llava_mixed": {"model": llava, "images": 1, **mixed, "checkpointing": "non_reentrant"}, "llava_frozen_tower": {"model": llava, "images": 1, "freeze": ["vision_tower"]},
        "llava_projector": {**vision()["llava_projector"], **mixed}, "llava_lora": vision()["llava_lora"], "llava_reentrant": {"model": llava, "images": 1, "checkpointing": "reentrant"},
        "qwen2_vl": grids()["qwen2_vl_full"], "qwen2_vl_mixed": {**grids()["qwen2_vl_full"], **mixed}, "gpt2": {"model": classifiers()["classifier_gpt2"]["model"]}, "gpt_neo": older_families()["gpt_neo_full"], "classifier": classifiers()["classifier_full"]}.items()}


def classes_to_wrap():
    """Of a model with images, layers of one class or of several; the rest is the root's."""
    llava = {"model": vision()["llava_lora"]["model"], "images": 1, "gpus": 2}
    policy = {"param_dtype": "bf16", "reduce_dtype": "bf16"}
    text, tower, parts = ["LlamaDecoderLayer"], ["CLIPEncoderLayer"], ["LlamaDecoderLayer", "CLIPEncoderLayer", "CLIPVisionEmbeddings", "LlavaMultiModalProjector"]
    by_name = {"transformer_layer_cls_to_wrap": ["GraniteAttention", "GraniteMLP"]}   # of which attention is given all by name
    granite = {"model": {**MODEL, "model_type": "granite"}, "gpus": 2}
    cases = {"fsdp2_wrap_keywords": {**granite, "parallel": "fsdp2", "fsdp2": by_name}, "fsdp2_wrap_keywords_mixed": {**granite, "parallel": "fsdp2", "dtype": "fp32", "fsdp2": {**policy, **by_name}, "checkpointing": "non_reentrant"},
             "fsdp1_wrap_keywords": {**granite, "parallel": "fsdp1", "fsdp1": by_name}, "trainer_fsdp2_wrap_keywords": {**granite, "loop": "trainer", "parallel": "fsdp2", "load": "wrapped", "fsdp2": {**policy, "reshard_after_forward": "true", **by_name}}}
    for name, classes in {"text": text, "tower": tower, "parts": parts}.items():
        wrap = {"transformer_layer_cls_to_wrap": classes}
        cases |= {f"fsdp2_wrap_{name}": {**llava, "parallel": "fsdp2", "fsdp2": wrap}, f"fsdp2_wrap_{name}_mixed": {**llava, "parallel": "fsdp2", "dtype": "fp32", "fsdp2": {**policy, **wrap}, "checkpointing": "non_reentrant"},
                  f"fsdp1_wrap_{name}": {**llava, "parallel": "fsdp1", "fsdp1": wrap}, f"fsdp1_wrap_{name}_mixed": {**llava, "parallel": "fsdp1", "dtype": "fp32", "fsdp1": {**policy, **wrap}},
                  f"trainer_fsdp2_wrap_{name}": {**llava, "loop": "trainer", "parallel": "fsdp2", "load": "wrapped", "fsdp2": {**policy, "reshard_after_forward": "true", **wrap}},
                  f"trainer_fsdp2_wrap_{name}_lora": {**llava, "lora": LORA, "loop": "trainer", "parallel": "fsdp2", "load": "wrapped", "fsdp2": {**policy, "reshard_after_forward": "true", **wrap}}}
    return cases


def flat_sharded():
    """FSDP1: the same as one flat parameter for each layer."""
    policy = {"param_dtype": "bf16", "reduce_dtype": "fp32"}
    mixed, odd = {"dtype": "fp32", "fsdp1": policy}, {"model": {**MODEL, "hidden_size": 132, "head_dim": 32, "vocab_size": 1021}}
    keep, frozen, llava = {"sharding_strategy": "SHARD_GRAD_OP"}, {"freeze": ["embed_tokens", "layers.0"]}, {"model": vision()["llava_lora"]["model"], "images": 1}
    lora, projector = {"dtype": "fp32", "lora": LORA}, {**llava, "train_only": ["multi_modal_projector"]}
    return {"fsdp1_" + name: {"gpus": 2, "parallel": "fsdp1", **options} for name, options in {
        "plain": {}, "mixed": mixed, "eight": {**mixed, "gpus": 8}, "odd": {**odd, "gpus": 3}, "odd_mixed": {**odd, **mixed, "gpus": 3, "rank": 1}, "keep": {"fsdp1": keep},
        "keep_mixed": {"dtype": "fp32", "fsdp1": {**policy, **keep}}, "reduce_low": {"dtype": "fp32", "fsdp1": {"param_dtype": "bf16"}}, "fp32": {"dtype": "fp32"},
        "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_mixed": {**mixed, "checkpointing": "non_reentrant"}, "checkpoint_keep": {"fsdp1": keep, "checkpointing": "non_reentrant"},
        "accumulate": {"grad_accumulation": 3}, "accumulate_mixed": {**mixed, "grad_accumulation": 2}, "fused": {**mixed, "optimizer_impl": "fused"}, "loop": {"optimizer_impl": "loop"},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "before_forward": {"zero_grad": "before_forward"}, "before_backward": {"zero_grad": "before_backward"}, "fill_zeros": {"set_to_none": False},
        "steps": {**mixed, "steps": 5}, "wrapped": {**mixed, "load": "wrapped"}, "wrapped_eight": {"load": "wrapped", "gpus": 8, "rank": 5}, "llava": {"model": vision()["llava_lora"]["model"], "images": 1},
        "llava_mixed": {"model": vision()["llava_lora"]["model"], "images": 1, **mixed, "checkpointing": "non_reentrant", "load": "wrapped"}, "gpt2": {"model": classifiers()["classifier_gpt2"]["model"]},
        "clip": {"max_grad_norm": 1.0}, "clip_mixed": {**mixed, "max_grad_norm": 1.0}, "clip_odd": {**odd, "gpus": 8, "rank": 7, "max_grad_norm": 1.0}, "clip_fp32": {"dtype": "fp32", "max_grad_norm": 1.0, "grad_accumulation": 2},
        "freeze": frozen, "freeze_mixed": {**mixed, **frozen, "checkpointing": "non_reentrant"}, "freeze_keep": {**frozen, "fsdp1": keep, "max_grad_norm": 1.0}, "freeze_layers": {"freeze": ["layers.1", "layers.2"]},
        "train_last": {"train_only": ["lm_head"]}, "train_norms": {"train_only": ["norm"], "gpus": 4, "rank": 3}, "llava_frozen_tower": {**llava, "freeze": ["vision_tower"]}, "llava_projector": {**projector, **mixed},
        "llava_projector_checkpoint": {**projector, "checkpointing": "non_reentrant", "max_grad_norm": 1.0}, "llava_projector_keep": {**projector, "fsdp1": keep},
        "amp": {"dtype": "fp32", "autocast": "bf16"}, "amp_clip": {"dtype": "fp32", "autocast": "bf16", "max_grad_norm": 1.0, "checkpointing": "non_reentrant"},
        "lora": lora, "lora_checkpoint": {**lora, "checkpointing": "non_reentrant", "max_grad_norm": 1.0}, "lora_mixed": {**mixed, "lora": LORA}, "lora_keep": {**lora, "fsdp1": keep}, "lora_amp": {**lora, "autocast": "bf16", "gpus": 4, "rank": 1}}.items()}
