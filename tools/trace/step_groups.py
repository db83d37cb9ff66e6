"""Groups of cases for step_cases.py: specs of `tidemark predict`, each an option or a pair of options that changes memory."""

from other_optimizers import NAMES

MODEL = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 3, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 1024}
HALF = {"dtype": "fp32", "autocast": "fp16", "grad_scaler": True}
LORA = {"r": 8, "alpha": 16, "dropout": 0.05, "target_modules": "all-linear"}


def optimizers():
    """name: options; each also as a loop, and fused where torch has it."""
    return {
        "adamw": {}, "adamw_amsgrad": {"amsgrad": True}, "adamw_maximize": {"maximize": True},
        "adam": {"optimizer": "adam"}, "adam_decay": {"optimizer": "adam", "weight_decay": 0.1},
        "adam_all": {"optimizer": "adam", "weight_decay": 0.1, "amsgrad": True, "maximize": True},
        "sgd": {"optimizer": "sgd"}, "sgd_decay": {"optimizer": "sgd", "weight_decay": 0.1},
        "sgd_momentum": {"optimizer": "sgd", "momentum": 0.9}, "sgd_maximize": {"optimizer": "sgd", "momentum": 0.9, "maximize": True},
        "sgd_nesterov": {"optimizer": "sgd", "momentum": 0.9, "nesterov": True},
        "sgd_all": {"optimizer": "sgd", "momentum": 0.9, "nesterov": True, "maximize": True, "weight_decay": 0.1},
        "adafactor": {"optimizer": "adafactor"}, "adafactor_all": {"optimizer": "adafactor", "maximize": True, "weight_decay": 0.1},
        "rmsprop": {"optimizer": "rmsprop"}, "rmsprop_momentum": {"optimizer": "rmsprop", "momentum": 0.9},
        "rmsprop_centered": {"optimizer": "rmsprop", "centered": True},
        "rmsprop_all": {"optimizer": "rmsprop", "centered": True, "momentum": 0.9, "maximize": True, "weight_decay": 0.1},
        "adagrad": {"optimizer": "adagrad"}, "adagrad_decay": {"optimizer": "adagrad", "weight_decay": 0.1},
        "adagrad_maximize": {"optimizer": "adagrad", "maximize": True},
    }


def steps():
    """name: options of the loop around the model."""
    sgd = {"optimizer": "sgd"}
    return {
        "clip": {"max_grad_norm": 1.0}, "clip_fp32": {"dtype": "fp32", "max_grad_norm": 1.0},
        "accumulate": {"grad_accumulation": 3}, "accumulate_clip": {"grad_accumulation": 2, "max_grad_norm": 1.0},
        "zero_before_forward": {"zero_grad": "before_forward"}, "zero_before_backward": {"zero_grad": "before_backward"},
        "zero_before_backward_accumulate": {"zero_grad": "before_backward", "grad_accumulation": 2},
        "fill_zeros": {"set_to_none": False}, "fill_zeros_before_forward": {"set_to_none": False, "zero_grad": "before_forward"},
        "amp_bf16": {"dtype": "fp32", "autocast": "bf16"}, "amp_of_bf16": {"autocast": "bf16"},
        "amp_accumulate": {"dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2, "max_grad_norm": 1.0},
        "scaler": HALF, "scaler_clip": {**HALF, "max_grad_norm": 1.0}, "scaler_fused": {**HALF, "optimizer_impl": "fused"},
        "scaler_fused_clip": {**HALF, "optimizer_impl": "fused", "max_grad_norm": 1.0},
        "scaler_accumulate": {**HALF, "grad_accumulation": 2}, "scaler_sgd_fused": {**HALF, **sgd, "momentum": 0.9, "optimizer_impl": "fused"},
        "scaler_fp32": {"dtype": "fp32", "grad_scaler": True}, "scaler_adafactor": {**HALF, "optimizer": "adafactor"},
        "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_2": {"checkpointing": "non_reentrant", "checkpoint_every": 2},
        "checkpoint_amp": {"checkpointing": "non_reentrant", "dtype": "fp32", "autocast": "bf16"},
        "checkpoint_accumulate": {"checkpointing": "non_reentrant", "grad_accumulation": 2},
        "checkpoint_cache": {"checkpointing": "non_reentrant", "use_cache": "true"},
        "checkpoint_2_cache": {"checkpointing": "non_reentrant", "checkpoint_every": 2, "use_cache": "true"},
        "no_cache": {"use_cache": "false"}, "scaler_of_fp16": {"dtype": "fp16", "grad_scaler": True, "optimizer_impl": "fused"},
        "everything": {**HALF, "checkpointing": "non_reentrant", "checkpoint_every": 2, "grad_accumulation": 2, "max_grad_norm": 1.0,
                       "optimizer": "rmsprop", "momentum": 0.9, "zero_grad": "before_forward", "freeze": ["layers.1."]},
        "reentrant": {"checkpointing": "reentrant"}, "reentrant_2": {"checkpointing": "reentrant", "checkpoint_every": 2},
        "reentrant_amp": {"checkpointing": "reentrant", "dtype": "fp32", "autocast": "bf16"},
        "reentrant_accumulate": {"checkpointing": "reentrant", "grad_accumulation": 2},
        "reentrant_frozen": {"checkpointing": "reentrant", "freeze": ["embed_tokens"]},
        "reentrant_clip": {"checkpointing": "reentrant", "max_grad_norm": 1.0},
        "freeze_embedding": {"freeze": ["embed_tokens"]}, "freeze_layers": {"freeze": ["layers.0", "layers.2"]},
        "freeze_head": {"freeze": ["lm_head"]}, "train_norms": {"train_only": ["norm"]},
        "train_attention": {"train_only": ["self_attn"], "freeze": ["layers.0"], "max_grad_norm": 1.0},
        "train_last": {"train_only": ["lm_head"], "checkpointing": "non_reentrant"},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}},
        "tied_checkpoint": {"model": {**MODEL, "tie_word_embeddings": True}, "checkpointing": "reentrant", "grad_accumulation": 2},
    }


def by_trainer():
    """name: options; the loop is the Trainer's."""
    mixed = {"dtype": "fp32", "autocast": "bf16"}
    options = {
        "plain": {}, "clip": {"max_grad_norm": 1.0}, "decay": {"weight_decay": 0.1}, "fused": {"optimizer_impl": "fused"}, "sgd": {"optimizer": "sgd"},
        "fp32": {"dtype": "fp32"}, "amp": mixed, "amp_of_bf16": {"autocast": "bf16"}, "amp_clip": {**mixed, "max_grad_norm": 1.0, "optimizer_impl": "fused"},
        "accumulate": {"grad_accumulation": 3}, "amp_accumulate": {**mixed, "grad_accumulation": 2}, "scaler": HALF, "scaler_clip": {**HALF, "max_grad_norm": 1.0, "grad_accumulation": 2},
        "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_amp": {**mixed, "checkpointing": "reentrant"}, "frozen": {"freeze": ["layers.1."]},
        "lora": {"lora": LORA}, "lora_amp": {"lora": LORA, "autocast": "bf16", "checkpointing": "non_reentrant"},
        "ddp": {"gpus": 4, "parallel": "ddp"}, "ddp_amp": {**mixed, "gpus": 4, "parallel": "ddp", "grad_accumulation": 2, "ddp": {"no_sync": True}},
    }
    low, whole = {"param_dtype": "bf16", "reduce_dtype": "bf16", "reshard_after_forward": "true"}, {"reshard_after_forward": "true"}
    odd = {"model": {**MODEL, "hidden_size": 132, "head_dim": 32, "vocab_size": 1021, "tie_word_embeddings": True}}
    llava = {"model": vision()["llava_lora"]["model"], "images": 1}
    sharded = {
        "plain": {"fsdp2": whole}, "fp32": {"fsdp2": whole, "dtype": "fp32"}, "mixed": {}, "mixed_fp32": {"dtype": "fp32"}, "mixed_clip": {"max_grad_norm": 1.0, "optimizer_impl": "fused"},
        "keep": {"fsdp2": {**low, "reshard_after_forward": "false"}}, "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant", "max_grad_norm": 1.0},
        "accumulate": {"fsdp2": {**low, "requires_gradient_sync": False}, "grad_accumulation": 3}, "accumulate_fp32": {"fsdp2": {**whole, "requires_gradient_sync": False}, "dtype": "fp32", "grad_accumulation": 2},
        "lora": {"lora": LORA}, "lora_checkpoint": {"lora": LORA, "checkpointing": "non_reentrant", "max_grad_norm": 1.0}, "frozen": {"freeze": ["layers.1.", "embed_tokens"]}, "tied_last": {**odd, "rank": 3},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}, "weight_decay": 0.1}, "gpt2": {"model": classifiers()["classifier_gpt2"]["model"]}, "two_sgd": {"gpus": 2, "optimizer": "sgd"},
        "offload": {"fsdp2": {**whole, "offload_policy": "cpu"}}, "offload_mixed": {"fsdp2": {**low, "offload_policy": "cpu"}}, "offload_fp32": {"fsdp2": {**low, "offload_policy": "cpu"}, "dtype": "fp32", "checkpointing": "non_reentrant"},
        "offload_accumulate": {"fsdp2": {**low, "offload_policy": "cpu", "requires_gradient_sync": False}, "grad_accumulation": 2}, "offload_lora": {"fsdp2": {**low, "offload_policy": "cpu"}, "lora": LORA},
        "llava": llava, "llava_fp32": {**llava, "dtype": "fp32"}, "llava_whole": {**llava, "fsdp2": whole}, "llava_projector": {**llava, "train_only": ["multi_modal_projector"]}, "llava_frozen_tower": {**llava, "freeze": ["vision_tower"], "checkpointing": "non_reentrant"},
        "llava_lora": {**vision()["llava_lora"]}, "llava_offload": {**llava, "fsdp2": {**low, "offload_policy": "cpu"}}, "qwen2_vl": grids()["qwen2_vl_full"]}
    options |= {"llava": llava, "llava_amp_checkpoint": {**llava, **mixed, "checkpointing": "non_reentrant"}, "llava_lora": vision()["llava_lora"], "qwen2_vl": grids()["qwen2_vl_full"]}
    words = {"load": "device", "model": {**MODEL, "vocab_size": 70000}, "autocast": "bf16"}   # its embeddings are cut out of the block that is asked for first
    options |= {"device": words, "device_lora": {**words, "lora": LORA, "max_grad_norm": 1.0}, "device_fp32": {**words, "dtype": "fp32"}, "device_ddp": {**words, "gpus": 2, "parallel": "ddp", "lora": LORA}}
    adapted = {"load": "adapted", "lora": LORA, "autocast": "bf16"}
    options |= {"adapted": adapted, "adapted_inputs": {**adapted, "input_require_grads": True, "max_grad_norm": 1.0}, "adapted_ddp": {**adapted, "input_require_grads": True, "gpus": 2, "parallel": "ddp"}}
    options |= {f"fsdp2_{name}": {"gpus": 4, "parallel": "fsdp2", "load": "wrapped", "fsdp2": low, **chosen} for name, chosen in sharded.items()}
    engine = {"plain": {}, "accumulate": {"grad_accumulation": 3}, "lora": {"lora": LORA}, "checkpoint": {"checkpointing": "non_reentrant"}, "no_clip": {"zero": {"gradient_clipping": 0}},
              "frozen": {"freeze": ["norm"]}, "tied_last": {**odd, "rank": 3}, "offload": {"zero": {"offload_optimizer": "cpu"}}}
    of_stage = {2: {"buckets": {"zero": {"reduce_bucket_size": 100_000, "overlap_comm": True}, "gpus": 2}},
                3: {"sub_groups": {"zero": {"sub_group_size": 100_000}}, "offload_all": {"zero": {"offload_optimizer": "cpu", "offload_param": "cpu"}, "grad_accumulation": 2}}}
    for stage in (1, 2, 3):
        cases = {**engine, **of_stage.get(stage, {})}
        options |= {f"zero{stage}_{name}": {"gpus": 4, "parallel": f"zero{stage}", **chosen} for name, chosen in cases.items()}
    return {f"trainer_{name}": {"loop": "trainer", **chosen} for name, chosen in options.items()}


def optimizers_of_others():
    """bitsandbytes' and transformers' own, with tensors on both sides of their limits of 4,096 and 100,000 elements."""
    some = {"model": {**MODEL, "hidden_size": 256, "num_hidden_layers": 2}}
    plain = {name: {**some, "optimizer": name} for name in NAMES}
    eight, factored = {"optimizer": "adamw_8bit"}, {"optimizer": "transformers_adafactor"}
    mixed = {"dtype": "fp32", "autocast": "bf16"}
    return {**plain, "adamw_8bit_amp": {**some, **eight, **mixed}, "adamw_8bit_accumulate": {**some, **eight, "grad_accumulation": 2, "max_grad_norm": 1.0},
            "adamw_8bit_lora": {**some, **eight, "lora": LORA}, "adamw_8bit_scaler": {**some, **eight, **HALF}, "adamw_8bit_two": {**some, **eight, "gpus": 2, "parallel": "ddp"},
            "adamw_8bit_flat": {**some, **eight, "gpus": 2, "parallel": "fsdp1"}, "transformers_adafactor_fp32": {**factored, "dtype": "fp32"},
            "transformers_adafactor_large": {**large()["large_adafactor"], **factored}, "transformers_adafactor_frozen": {**factored, "freeze": ["layers.1."], "max_grad_norm": 1.0},
            "trainer_adamw_8bit": {**some, **eight, "loop": "trainer", "weight_decay": 0.1}, "trainer_paged": {**some, "optimizer": "paged_adamw_32bit", "loop": "trainer", **mixed},
            "trainer_adafactor": {**factored, "loop": "trainer", "max_grad_norm": 1.0}}


def adapters():
    lora = {"lora": LORA}
    return {
        "lora": lora, "lora_default": {"lora": {}}, "lora_plain": {"lora": {**LORA, "dropout": 0}},
        "lora_names": {"lora": {**LORA, "target_modules": ["q_proj", "mlp.down_proj"]}},
        "lora_pattern": {"lora": {**LORA, "target_modules": r".*layers\.[02]\..*\.(v|o)_proj"}},
        "lora_head": {"lora": {**LORA, "target_modules": ["lm_head", "v_proj"]}},
        "lora_low": {"lora": {**LORA, "adapter_dtype": "bf16"}}, "lora_fp32": {**lora, "dtype": "fp32"},
        "lora_amp": {**lora, "dtype": "fp32", "autocast": "bf16"}, "lora_amp_of_bf16": {**lora, "autocast": "bf16"},
        "lora_tied": {**lora, "model": {**MODEL, "tie_word_embeddings": True}},
        "lora_tied_head": {"lora": {**LORA, "target_modules": ["lm_head"]}, "model": {**MODEL, "tie_word_embeddings": True}},
        "lora_inputs": {**lora, "input_require_grads": True}, "lora_clip": {**lora, "max_grad_norm": 1.0}, "lora_accumulate": {**lora, "grad_accumulation": 2},
        "lora_checkpoint": {**lora, "checkpointing": "non_reentrant"}, "lora_reentrant": {**lora, "checkpointing": "reentrant"},
        "lora_fused": {**lora, "optimizer_impl": "fused"}, "lora_loop": {**lora, "optimizer_impl": "loop"},
        "lora_adafactor": {**lora, "optimizer": "adafactor"}, "lora_sgd": {**lora, "optimizer": "sgd", "momentum": 0.9},
        "lora_scaler": {**lora, **HALF, "max_grad_norm": 1.0},
        "lora_rmsprop": {**lora, "optimizer": "rmsprop", "centered": True}, "lora_adagrad": {**lora, "optimizer": "adagrad"},
        **dora(),
    }


def dora():
    """Adapters with a vector of magnitudes; those without dropout take what the base layer returned, whose bias they leave out."""
    lora, plain = {"lora": {**LORA, "use_dora": True}}, {"lora": {**LORA, "use_dora": True, "dropout": 0}}
    gpt2 = {"model": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 256}}
    return {
        "dora": lora, "dora_plain": plain, "dora_low": {"lora": {**plain["lora"], "adapter_dtype": "bf16"}}, "dora_fp32": {**lora, "dtype": "fp32"},
        "dora_amp": {**plain, "autocast": "bf16"}, "dora_amp_dropout": {**lora, "autocast": "bf16"}, "dora_scaler": {**lora, **HALF},
        "dora_fp16": {**plain, "dtype": "fp16"}, "dora_bias": {**plain, "model": {**MODEL, "model_type": "qwen2"}},
        "dora_gpt2": {**gpt2, **lora}, "dora_gpt2_plain": {**gpt2, **plain}, "dora_checkpoint": {**plain, "checkpointing": "non_reentrant", "max_grad_norm": 1.0},
        "dora_reentrant": {**lora, "checkpointing": "reentrant"}, "dora_ddp": {**plain, "gpus": 2, "parallel": "ddp"},
        "dora_trainer": {**lora, "loop": "trainer", "autocast": "bf16"},
    }


def large():
    """Matrices whose reductions take several blocks of threads."""
    model = {"model": {**MODEL, "hidden_size": 1536, "intermediate_size": 4864, "num_hidden_layers": 1, "num_attention_heads": 12,
                       "num_key_value_heads": 4, "vocab_size": 24000}}
    return {"large_" + name: {**model, **options, "batch": 1, "steps": 2} for name, options in {
        "clip": {"max_grad_norm": 1.0}, "clip_fp32": {"max_grad_norm": 1.0, "dtype": "fp32"}, "adafactor": {"optimizer": "adafactor"},
        "adafactor_foreach": {"optimizer": "adafactor", "optimizer_impl": "foreach"}, "adafactor_fp32": {"optimizer": "adafactor", "dtype": "fp32"},
        "lora": {"lora": LORA}, "checkpoint": {"checkpointing": "non_reentrant"}}.items()}


def vision():
    """Two stacks of layers: which are checkpointed is counted over both, and PEFT and frozen parts choose among both."""
    tower = {"model_type": "clip_vision_model", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3,
             "num_attention_heads": 4, "image_size": 56, "patch_size": 14, "projection_dim": 64}
    model = {"model": {"model_type": "llava", "text_config": MODEL, "vision_config": tower, "image_token_index": 1000}, "images": 1}
    return {"llava_" + name: {**model, **options} for name, options in {
        "checkpoint_2": {"checkpointing": "non_reentrant", "checkpoint_every": 2},
        "reentrant_2": {"checkpointing": "reentrant", "checkpoint_every": 2, "grad_accumulation": 2},
        "projector": {"train_only": ["multi_modal_projector"], "checkpointing": "reentrant"},
        "frozen_tower": {"freeze": ["vision_tower"], "optimizer": "adafactor", "max_grad_norm": 1.0},
        "lora": {"lora": {**LORA, "target_modules": r".*language_model.*\.(q|v)_proj"}},
        "lora_everywhere": {"lora": LORA}}.items()}


def grids():
    """Images of any size: positions in three dimensions, attention within each image."""
    text = {**MODEL, "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [4, 6, 6]}}
    del text["model_type"]
    tower = {"depth": 2, "embed_dim": 128, "hidden_size": 128, "num_heads": 4, "mlp_ratio": 2}
    model = {"model": {"model_type": "qwen2_vl", "text_config": text, "vision_config": tower, "image_token_id": 1000,
                       "video_token_id": 1001, "vision_start_token_id": 1002, "vision_end_token_id": 1003},
             "images": 1, "image_size": "112x112"}
    return {"qwen2_vl_" + name: {**model, **options} for name, options in {
        "full": {}, "two_images": {"images": 2, "image_size": "112x84"}, "one_sample": {"batch": 1, "max_grad_norm": 1.0},
        "amp": {"dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2}, "eager": {"attn": "eager"},
        "checkpoint_2": {"checkpointing": "non_reentrant", "checkpoint_every": 2, "images": 2, "image_size": "56x112"},
        "reentrant": {"checkpointing": "reentrant"}, "frozen_tower": {"freeze": ["visual"], "checkpointing": "non_reentrant"},
        "merger": {"train_only": ["merger"]}, "lora": {"lora": LORA}}.items()}


def data_parallel():
    """Buckets of a model with enough gradients for several, and what fills, keeps and sends them."""
    model = {"model": {**MODEL, "hidden_size": 256, "intermediate_size": 1376, "num_hidden_layers": 4, "vocab_size": 4096}}
    wide = {"model": {**MODEL, "hidden_size": 1024, "intermediate_size": 4096, "vocab_size": 16000}, "batch": 1}
    return {"ddp_" + name: {**model, "gpus": 2, "parallel": "ddp", **options} for name, options in {
        "plain": {}, "eight": {"gpus": 8}, "small_buckets": {"ddp": {"bucket_cap_mb": 2}}, "one": {"gpus": 1}, "wide": wide,
        "views": {"ddp": {"gradient_as_bucket_view": True}}, "views_clip": {"ddp": {"gradient_as_bucket_view": True}, "max_grad_norm": 1.0},
        "views_fill_zeros": {"ddp": {"gradient_as_bucket_view": True}, "set_to_none": False},
        "quiet_buffers": {"ddp": {"broadcast_buffers": False}},
        "amp": {"dtype": "fp32", "autocast": "bf16"}, "scaler": {**HALF, "max_grad_norm": 1.0}, "accumulate": {"grad_accumulation": 2},
        "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"},
        "lora": {"lora": LORA}, "freeze": {"freeze": ["embed_tokens", "layers.0"]}, "tied": {"model": {**model["model"], "tie_word_embeddings": True}},
        "before_forward": {"zero_grad": "before_forward"}, "clip": {"max_grad_norm": 1.0}, "steps": {"steps": 5},
        **without_waiting_for_all(wide)}.items()}


def without_waiting_for_all(wide):
    """DDP that looks for parameters without a gradient, and DDP that is told that every step is alike."""
    unused, static = {"find_unused_parameters": True}, {"static_graph": True}
    text_alone = {"model": vision()["llava_lora"]["model"], "images": 0}
    return {
        "unused": {"ddp": unused}, "unused_views": {"ddp": {**unused, "gradient_as_bucket_view": True}}, "unused_wide": {**wide, "ddp": unused},
        "unused_views_clip": {"ddp": {**unused, "gradient_as_bucket_view": True}, "max_grad_norm": 1.0},
        "unused_small_buckets": {"ddp": {**unused, "bucket_cap_mb": 2}}, "unused_lora": {"ddp": unused, "lora": LORA},
        "unused_accumulate": {"ddp": unused, "grad_accumulation": 2}, "unused_amp": {"ddp": unused, "dtype": "fp32", "autocast": "bf16"},
        "unused_checkpoint": {"ddp": unused, "checkpointing": "non_reentrant"}, "unused_fill_zeros": {"ddp": unused, "set_to_none": False},
        "unused_text_alone": {**text_alone, "ddp": unused}, "unused_views_text_alone": {**text_alone, "ddp": {**unused, "gradient_as_bucket_view": True}},
        "static": {"ddp": static}, "static_views": {"ddp": {**static, "gradient_as_bucket_view": True}}, "static_wide": {**wide, "ddp": static},
        "static_reentrant": {"ddp": static, "checkpointing": "reentrant"}, "static_checkpoint": {"ddp": static, "checkpointing": "non_reentrant"},
        "static_accumulate": {"ddp": static, "grad_accumulation": 2}, "static_unused": {"ddp": {**static, **unused}},
        "static_text_alone": {**text_alone, "ddp": static}, **{"no_sync_" + name: {"grad_accumulation": 3, **options, "ddp": {"no_sync": True, **options.get("ddp", {})}} for name, options in {
            "plain": {}, "views": {"ddp": {"gradient_as_bucket_view": True}}, "unused": {"ddp": unused}, "checkpoint": {"checkpointing": "non_reentrant", "max_grad_norm": 1.0},
            "unused_views": {"ddp": {**unused, "gradient_as_bucket_view": True}, "grad_accumulation": 2}, "amp": {"dtype": "fp32", "autocast": "bf16"}}.items()},
    }


def odd_heads():
    """Heads that flash attention takes only when they are padded, and positions that turn a part of them."""
    llama = {"model": {**MODEL, "head_dim": 20}}
    gpt2 = {"model": {"model_type": "gpt2", "n_embd": 80, "n_layer": 2, "n_head": 4, "vocab_size": 1024}}
    return {"odd_heads_" + name: {**llama, **options} for name, options in {
        "full": {}, "checkpoint": {"checkpointing": "non_reentrant"}, "amp": {"dtype": "fp32", "autocast": "bf16"}, "lora": {"lora": LORA},
        "gpt2": gpt2, "frozen": {"train_only": ["lm_head"]}}.items()}


def families():
    """What OPT and Qwen 3 can be besides their usual selves."""
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024}
    opt = {"model_type": "opt", **sizes, "ffn_dim": 256}
    after = {"model": {**opt, "do_layer_norm_before": False, "word_embed_proj_dim": 64}}
    qwen3 = {"model_type": "qwen3", **sizes, "intermediate_size": 344, "num_key_value_heads": 2, "head_dim": 32}
    windows = {"model": {**qwen3, "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}}
    bare = {"enable_bias": False, "layer_norm_elementwise_affine": False, "activation_function": "gelu", "dropout": 0.0}
    return {
        "opt_after": after, "opt_after_amp": {**after, "dtype": "fp32", "autocast": "bf16", "checkpointing": "non_reentrant"},
        "opt_bare": {"model": {**opt, **bare, "_remove_final_layer_norm": True}, "attn": "eager", "grad_accumulation": 2},
        "opt_untied": {"model": {**opt, "tie_word_embeddings": False, "attention_dropout": 0.1}, "checkpointing": "reentrant"},
        "qwen3_windows": windows, "qwen3_windows_eager": {**windows, "attn": "eager", "checkpointing": "non_reentrant"},
        "qwen3_biased": {"model": {**qwen3, "attention_bias": True, "tie_word_embeddings": True}, "dtype": "fp32", "autocast": "bf16"},
        "qwen3_dropout": {"model": {**qwen3, "attention_dropout": 0.1}, "lora": LORA, "max_grad_norm": 1.0},
    }


def positions():
    """Rotary positions whose frequencies follow the length of the samples."""
    phi3 = {**MODEL, "model_type": "phi3", "pad_token_id": 0, "original_max_position_embeddings": 64}
    longrope = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 16, "long_factor": [2.0] * 16}
    long = {"model": {**phi3, "rope_parameters": longrope}}
    halves = {**longrope, "partial_rotary_factor": 0.5, "short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
    dynamic = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
    grown = {"model": {**MODEL, "max_position_embeddings": 32, "rope_parameters": dynamic}}
    return {
        "longrope_short": long, "longrope_long": {**long, "seq": 65}, "longrope_amp": {**long, "seq": 128, "dtype": "fp32", "autocast": "bf16"},
        "longrope_half": {"model": {**phi3, "rope_parameters": halves}, "seq": 96},
        "longrope_checkpoint": {**long, "seq": 96, "checkpointing": "non_reentrant", "grad_accumulation": 2},
        "longrope_llama": {"model": {**MODEL, "rope_parameters": {**longrope, "original_max_position_embeddings": 32}}, "lora": LORA},
        "dynamic_short": {"model": {**MODEL, "rope_parameters": dynamic}}, "dynamic_grown": grown,
        "dynamic_amp": {**grown, "dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2},
        "dynamic_reentrant": {**grown, "checkpointing": "reentrant", "max_grad_norm": 1.0},
    }


def classifiers():
    """Decoders with a score for each class, read at each sample's last token."""
    padded = {"model": {**MODEL, "pad_token_id": 0, "num_labels": 3}, "head": "sequence_classification"}
    gpt2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "pad_token_id": 0}
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024}
    opt = {"model_type": "opt", **sizes, "ffn_dim": 256, "word_embed_proj_dim": 64}
    neox = {"model_type": "gpt_neox", **sizes, "intermediate_size": 256, "pad_token_id": 0}
    return {"classifier_" + name: {**padded, **options} for name, options in {
        "full": {}, "one_sample": {"batch": 1}, "unpadded": {"batch": 1, "model": {**MODEL, "num_labels": 3}},
        "amp": {"dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2}, "fp32": {"dtype": "fp32", "batch": 4, "seq": 100},
        "reentrant": {"checkpointing": "reentrant", "max_grad_norm": 1.0}, "lora": {"lora": LORA}, "head_alone": {"train_only": ["score"]},
        "gpt2": {"model": gpt2}, "opt": {"model": opt}, "gpt_neox": {"model": neox},
        "gemma2": {"model": {**MODEL, "model_type": "gemma2", "head_dim": 32}},
        "trainer": {"loop": "trainer", "dtype": "fp32", "autocast": "bf16", "max_grad_norm": 1.0}}.items()}


def zero():
    """DeepSpeed's ZeRO: what lies in a bucket, what in this rank's part, and what a step does with it."""
    few = {"zero": {"reduce_bucket_size": 100000}}
    alone = {"zero": {"reduce_bucket_size": 50000, "use_multi_rank_bucket_allreduce": False}, "gpus": 8}
    return {f"zero{stage}_{name}": {"gpus": 2, "parallel": f"zero{stage}", **options} for stage in (1, 2) for name, options in {
        "plain": {}, "one": {"gpus": 1}, "three": {"gpus": 3}, "eight": {"gpus": 8}, "more_ranks_than_tensors": {"gpus": 64},
        "accumulate": {"grad_accumulation": 3}, "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"},
        "freeze": {"freeze": ["embed_tokens", "layers.0."]}, "small_buckets": few, "small_buckets_accumulate": {**few, "grad_accumulation": 2},
        "alone": alone, "no_scatter": {"zero": {"reduce_scatter": False}}, "no_clip": {"zero": {"gradient_clipping": 0.0}},
        "clip": {"zero": {"gradient_clipping": 0.5}}, "fused": {"optimizer_impl": "fused"}, "adam_decay": {"optimizer": "adam", "weight_decay": 0.1},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "steps": {"steps": 5}, "last": {"gpus": 3, "rank": 2},
        "overlap": {"zero": {"overlap_comm": True}}, "overlap_small": {"zero": {**few["zero"], "overlap_comm": True}, "grad_accumulation": 2},
        "apart": {"zero": {"contiguous_gradients": False}}, "apart_small": {"zero": {**few["zero"], "contiguous_gradients": False}, "grad_accumulation": 2},
        "offload": {"zero": {"offload_optimizer": "cpu"}}, "offload_three": {"zero": {"offload_optimizer": "cpu"}, "gpus": 3},
        "offload_small_buckets": {"zero": {**few["zero"], "offload_optimizer": "cpu"}, "grad_accumulation": 2},
        "offload_overlap": {"zero": {"offload_optimizer": "cpu", "overlap_comm": True}}, "lora": {"lora": LORA}, "projector": {**vision()["llava_projector"], "checkpointing": "non_reentrant"},
        "frozen_tower": {"model": vision()["llava_lora"]["model"], "images": 1, "freeze": ["vision_tower"]}}.items()}


def experts():
    """Mixtures of experts: how each implementation runs them, the router's loss, and how tokens spread."""
    lora = {**LORA, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]}   # other names, PEFT takes for experts' parameters
    few = {"num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 352}
    mixtral = {**MODEL, **few, "model_type": "mixtral", "num_hidden_layers": 2}
    loss = {"model": {**mixtral, "output_router_logits": True}}
    many = {"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 64, "intermediate_size": 352, "num_hidden_layers": 2}
    qwen3 = {**MODEL, **many, "model_type": "qwen3_moe", "head_dim": 32}
    qwen2 = {**MODEL, **many, "model_type": "qwen2_moe", "shared_expert_intermediate_size": 96}
    olmoe = {**MODEL, **{key: many[key] for key in ("num_experts", "num_experts_per_tok", "num_hidden_layers")}, "model_type": "olmoe", "intermediate_size": 64}
    each = {
        "full": {}, "loss": loss, "fp32": {"dtype": "fp32"}, "amp": {"dtype": "fp32", "autocast": "bf16"}, "amp_of_bf16": {"autocast": "bf16"},
        "fp16": {"dtype": "fp16"}, "amp_loss": {**loss, "dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2, "max_grad_norm": 1.0},
        "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"},
        "checkpoint_loss": {**loss, "checkpointing": "non_reentrant"}, "reentrant_loss": {**loss, "checkpointing": "reentrant", "grad_accumulation": 2},
        "skewed": {"moe_routing": "skewed:0.5"}, "all_skewed": {"moe_routing": "skewed:1", "batch": 1, "seq": 33},
        "lora": {"lora": lora}, "lora_amp": {"lora": lora, "dtype": "fp32", "autocast": "bf16"},
        "frozen_router": {"freeze": ["mlp.gate"]}, "frozen_experts": {"freeze": ["experts"], "max_grad_norm": 1.0},
        "only_routers": {"train_only": ["mlp.gate"], "model": loss["model"]}, "only_attention": {"train_only": ["self_attn"], "checkpointing": "reentrant"},
        "tied": {"model": {**mixtral, "tie_word_embeddings": True}}, "long": {"batch": 4, "seq": 700}, "clip_loop": {"max_grad_norm": 1.0, "optimizer": "sgd", "momentum": 0.9},
    }
    eager = {name: each[name] for name in ("full", "loss", "fp32", "amp", "amp_of_bf16", "checkpoint", "reentrant", "skewed", "all_skewed", "lora", "frozen_experts",
                                           "frozen_router", "only_routers", "long")}
    batched = {name: each[name] for name in ("full", "loss", "amp", "checkpoint", "skewed", "lora", "frozen_experts")}
    found = {"mixtral_" + name: {"model": mixtral, **options} for name, options in each.items()}
    for kind, chosen in (("eager", eager), ("batched_mm", batched)):
        found |= {f"mixtral_{kind}_{name}": {"model": mixtral, "experts_implementation": kind, **options} for name, options in chosen.items()}
    found |= {
        "mixtral_window": {"model": {**mixtral, "sliding_window": 16}}, "mixtral_jitter": {"model": {**mixtral, "router_jitter_noise": 0.1}},
        "mixtral_jitter_checkpoint": {"model": {**mixtral, "router_jitter_noise": 0.1}, "checkpointing": "non_reentrant"},
        "mixtral_classifier": {"model": {**mixtral, "pad_token_id": 0, "num_labels": 3}, "head": "sequence_classification"},
        "mixtral_one_of_three": {"model": {**mixtral, "num_local_experts": 3, "num_experts_per_tok": 1}, "experts_implementation": "eager"},
        "mixtral_attention": {"model": mixtral, "attn": "eager"},
        "qwen3_moe_normed": {"model": {**qwen3, "norm_topk_prob": True}}, "qwen3_moe_sparse_step": {"model": {**qwen3, "decoder_sparse_step": 2}},
        "qwen3_moe_dense_layer": {"model": {**qwen3, "mlp_only_layers": [0], "output_router_logits": True}},
        "qwen3_moe_windows": {"model": {**qwen3, "use_sliding_window": True, "sliding_window": 16}},
        "qwen2_moe_dense_layer": {"model": {**qwen2, "mlp_only_layers": [1], "output_router_logits": True}},
        "olmoe_normed": {"model": {**olmoe, "norm_topk_prob": True, "output_router_logits": True}},
    }
    for name, model in (("qwen3_moe", qwen3), ("qwen2_moe", qwen2), ("olmoe", olmoe)):
        more = {"full": {}, "loss": {"model": {**model, "output_router_logits": True}}, "eager": {"experts_implementation": "eager"},
                "amp": {"dtype": "fp32", "autocast": "bf16"}, "checkpoint": {"checkpointing": "non_reentrant"},
                "reentrant": {"checkpointing": "reentrant"}, "lora": {"lora": lora}, "skewed": {"moe_routing": "skewed:0.3", "experts_implementation": "eager"}}
        found |= {f"{name}_{key}": {"model": model, **options} for key, options in more.items()}
    return found



def expert_parallel():
    """transformers' expert parallelism: experts that other ranks have, and what is summed over ranks."""
    sizes = {"num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 352, "num_hidden_layers": 2}
    mixtral = {**MODEL, **sizes, "model_type": "mixtral"}
    loss = {"model": {**mixtral, "output_router_logits": True}}
    many = {"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 64, "intermediate_size": 352, "num_hidden_layers": 2}
    qwen3 = {"model": {**MODEL, **many, "model_type": "qwen3_moe", "head_dim": 32, "mlp_only_layers": [0]}}
    qwen2 = {"model": {**MODEL, **many, "model_type": "qwen2_moe", "shared_expert_intermediate_size": 96}}
    olmoe = {"model": {**MODEL, "num_experts": 16, "num_experts_per_tok": 4, "intermediate_size": 64, "model_type": "olmoe"}}
    lora = {"lora": {**LORA, "target_modules": ["q_proj", "v_proj"]}}
    return {"ep_" + name: {"model": mixtral, "gpus": 2, "parallel": "ep", **options} for name, options in {
        "full": {}, "one": {"gpus": 1}, "four": {"gpus": 4}, "eight": {"gpus": 8}, "last_of_four": {"gpus": 4, "rank": 3}, "rank_1": {"rank": 1}, "loss": loss,
        "fp32": {"dtype": "fp32"}, "amp": {"dtype": "fp32", "autocast": "bf16"}, "fp16": {"dtype": "fp16"}, "accumulate": {"grad_accumulation": 2},
        "checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"}, "checkpoint_loss": {**loss, "checkpointing": "non_reentrant"},
        "lora": lora, "frozen_experts": {"freeze": ["experts"]}, "frozen_router": {"freeze": ["mlp.gate"]}, "only_experts": {"train_only": ["experts"]},
        "only_routers": {"train_only": ["mlp.gate"], **loss}, "tied": {"model": {**mixtral, "tie_word_embeddings": True}},
        "fused": {"optimizer_impl": "fused"}, "loop": {"optimizer_impl": "loop"}, "sgd": {"optimizer": "sgd", "momentum": 0.9}, "amsgrad": {"amsgrad": True, "maximize": True},
        "batched_mm": {"experts_implementation": "batched_mm"}, "skewed": {"moe_routing": "skewed:0.5"}, "before_forward": {"zero_grad": "before_forward"},
        "long": {"batch": 4, "seq": 700}, "steps": {"steps": 5}, "qwen3_moe": qwen3, "qwen2_moe": qwen2, "olmoe": olmoe,
        "qwen3_moe_checkpoint": {**qwen3, "gpus": 4, "checkpointing": "non_reentrant", "grad_accumulation": 2}}.items()}


def older_families():
    """BLOOM, BioGPT, CodeGen, GPTBigCode, GPT-Neo: their attentions of their own, layers that return a tuple, buffers of each layer."""
    gpt = {"n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 128}
    models = {
        "bloom": {"hidden_size": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "pad_token_id": 3},
        "gpt_neo": {"hidden_size": 128, "num_layers": 2, "num_heads": 4, "vocab_size": 1024, "max_position_embeddings": 128, "window_size": 16,
                    "attention_types": [[["global", "local"], 1]], "pad_token_id": 3},
        "gpt_bigcode": {**gpt, "pad_token_id": 3}, "codegen": {**gpt, "rotary_dim": 16},
        "biogpt": {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 256, "vocab_size": 1024,
                   "max_position_embeddings": 128}}
    options = {
        "full": {}, "fp32": {"dtype": "fp32", "batch": 1}, "fp16_eager": {"dtype": "fp16", "grad_scaler": True, "optimizer_impl": "fused", "attn": "eager"},
        "amp": {"dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2, "max_grad_norm": 1.0}, "amp_fp16": {**HALF, "attn": "eager"},
        "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_amp": {"checkpointing": "non_reentrant", "dtype": "fp32", "autocast": "bf16"},
        "reentrant": {"checkpointing": "reentrant"}, "reentrant_2": {"checkpointing": "reentrant", "checkpoint_every": 2, "grad_accumulation": 2, "attn": "eager"},
        "reentrant_amp": {"checkpointing": "reentrant", "dtype": "fp32", "autocast": "bf16", "attn": "eager"},
        "no_cache": {"use_cache": "false", "batch": 1}, "eager": {"attn": "eager", "train_only": ["h.1.", "layers.1."]},
        "lora": {"lora": {**LORA, "target_modules": "all-linear"}}, "lora_default": {"lora": {}, "checkpointing": "non_reentrant"},
        "untied": "tie_word_embeddings", "classifier": {"head": "sequence_classification", "batch": 4}, "dropout": "dropouts"}
    dropouts = {"bloom": {"hidden_dropout": 0.1, "attention_dropout": 0.1}, "gpt_neo": {"resid_dropout": 0.1, "embed_dropout": 0.1, "attention_dropout": 0.1},
                "gpt_bigcode": {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}, "codegen": {"resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1},
                "biogpt": {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "activation_dropout": 0.1}}
    found = {}
    for model_type, model in models.items():
        model = {"model_type": model_type, **model}
        for name, spec in options.items():
            if (model_type, name) in (("codegen", "classifier"), ("biogpt", "lora_default")):
                continue   # transformers and PEFT have none
            if isinstance(spec, dict):
                found[f"{model_type}_{name}"] = {"model": model, **spec}
            elif spec == "dropouts":
                found[f"{model_type}_{name}"] = {"model": {**model, **dropouts[model_type]}, "checkpointing": "reentrant"}
            else:
                found[f"{model_type}_{name}"] = {"model": {**model, spec: model_type == "codegen"}}
    more = {"bloom_heads": {"n_head": 12, "hidden_size": 144}, "bloom_one_wide": {"n_head": 8, "hidden_size": 8},
            "bloom_after": {"apply_residual_connection_post_layernorm": True}, "gpt_neo_inner": {"intermediate_size": 200, "activation_function": "gelu"},
            "gpt_bigcode_heads": {"multi_query": False}, "gpt_bigcode_heads_eager": {"multi_query": False}, "gpt_bigcode_inner": {"n_inner": 200},
            "codegen_whole_heads": {"rotary_dim": 32}, "codegen_many_heads": {"n_head": 8, "rotary_dim": 8}, "codegen_inner": {"n_inner": 200},
            "biogpt_unscaled": {"scale_embedding": False}}
    for name, changes in more.items():
        model_type = next(known for known in models if name.startswith(known))
        found[name] = {"model": {"model_type": model_type, **models[model_type], **changes}, **({"attn": "eager"} if name.endswith("eager") else {})}
    found["bloom_heads_amp"] = {**found["bloom_heads"], "dtype": "fp32", "autocast": "bf16", "batch": 1, "checkpointing": "non_reentrant"}
    found["codegen_many_heads_amp"] = {**found["codegen_many_heads"], "dtype": "fp32", "autocast": "bf16", "use_cache": "false"}
    return found


FULL_PLAN = {**{f"model.layers.*.{name}": "colwise" for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")},
             **{f"model.layers.*.{name}": "rowwise" for name in ("self_attn.o_proj", "mlp.down_proj")}, "model.embed_tokens": "rowwise", "lm_head": "colwise"}


def tensor_parallel():
    """torch's parallelize_module: what is gathered, reduced and kept at the edges of modules, and what the optimizer does with gradients that lie
    otherwise than their parameters."""
    plan = {"tp": {"degree": 2, "plan": FULL_PLAN}}
    sequence = {"tp": {"degree": 2, "sequence_parallel": True}}
    qwen2 = {"model": {**MODEL, "model_type": "qwen2"}}
    neox = {"model_type": "gpt_neox", "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024, "intermediate_size": 256}
    four = {"model": {**MODEL, "num_key_value_heads": 4}, "gpus": 4}
    return {"tp_" + name: {"gpus": 2, "tp": {"degree": 2}, **options} for name, options in {
        "plain": {}, "one": {"gpus": 1, "tp": {"degree": 1}}, "four": {**four, "tp": {"degree": 4}}, "plan": plan, "plan_last": {**four, "tp": {"degree": 4, "plan": FULL_PLAN}, "rank": 3},
        "plan_one": {"gpus": 1, "tp": {"degree": 1, "plan": FULL_PLAN}},
        "plan_accumulate": {**plan, "grad_accumulation": 2}, "plan_checkpoint": {**plan, "checkpointing": "non_reentrant"},
        "plan_reentrant": {**plan, "checkpointing": "reentrant"}, "plan_amp": {**plan, "dtype": "fp32", "autocast": "bf16"},
        "plan_loop": {**plan, "optimizer_impl": "loop"}, "plan_fused": {**plan, "optimizer_impl": "fused"}, "sgd": {"optimizer": "sgd", "momentum": 0.9}, "rmsprop": {"optimizer": "rmsprop"}, "adagrad": {"optimizer": "adagrad"}, "adam_amsgrad": {"optimizer": "adam", "weight_decay": 0.1, "amsgrad": True},
        "plan_tied": {**plan, "model": {**MODEL, "tie_word_embeddings": True}}, "plan_freeze": {**plan, "freeze": ["embed_tokens", "layers.0."]},
        "plan_wide": {**plan, "batch": 4, "seq": 1024, "steps": 2},
        "biased": qwen2, "gpt_neox": {"model": neox}, "checkpoint": {"checkpointing": "non_reentrant"}, "amp": {"dtype": "fp32", "autocast": "bf16"},
        "freeze": {"freeze": ["layers.0.", "mlp"]}, "tied": {"model": {**MODEL, "tie_word_embeddings": True}},
        "plan_biased_amp": {**qwen2, **plan, "dtype": "fp32", "autocast": "bf16"}, "gpt_neox_amp": {"model": neox, "dtype": "fp32", "autocast": "bf16"},
        "opt": {"model": {"model_type": "opt", "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024, "ffn_dim": 256},
                "tp": {"degree": 2, "plan": {"model.decoder.layers.*.fc1": "colwise", "model.decoder.layers.*.fc2": "rowwise", "model.decoder.embed_tokens": "rowwise"}}},
        "qwen3": {"model": {**MODEL, "model_type": "qwen3", "head_dim": 32}}, "gemma2": {"model": {**MODEL, "model_type": "gemma2", "head_dim": 32}},
        "phi3": {"model": {**MODEL, "model_type": "phi3", "pad_token_id": 0}, "tp": {"degree": 2, "plan": {
            "model.layers.*.self_attn.qkv_proj": {"style": "colwise", "output_layouts": "replicate"}, "model.layers.*.self_attn.o_proj": {"style": "rowwise", "input_layouts": "replicate"},
            "model.layers.*.mlp.gate_up_proj": {"style": "colwise", "output_layouts": "replicate"}, "model.layers.*.mlp.down_proj": {"style": "rowwise", "input_layouts": "replicate"}}}},
        "classifier": {"model": {**MODEL, "pad_token_id": 0, "num_labels": 3}, "head": "sequence_classification"}, "sequence_everything": {**sequence, "attn": "eager", "checkpointing": "reentrant", "grad_accumulation": 2},
        "sequence_prepared": {"tp": {"degree": 2, "plan": {"model.embed_tokens": {"style": "rowwise", "output_layouts": "shard(1)", "use_local_output": False}, "model.layers.*.input_layernorm": "sequence",
            "model.layers.*.self_attn": {"style": "prepare_input", "input_layouts": "shard(1)", "desired_input_layouts": "replicate", "use_local_output": True},
            **{f"model.layers.*.self_attn.{name}_proj": "colwise" for name in "qkv"}, "model.layers.*.self_attn.o_proj": {"style": "rowwise", "output_layouts": "shard(1)", "use_local_output": False},
            "model.layers.*.post_attention_layernorm": "sequence", "model.layers.*.mlp.gate_proj": {"style": "colwise", "input_layouts": "shard(1)"}, "model.layers.*.mlp.up_proj": {"style": "colwise", "input_layouts": "shard(1)"},
            "model.layers.*.mlp.down_proj": {"style": "rowwise", "output_layouts": "shard(1)", "use_local_output": False}, "model.norm": {"style": "sequence", "use_local_output": False},
            "lm_head": {"style": "colwise", "input_layouts": "shard(1)"}}}},
        "mistral": {"model": {**MODEL, "model_type": "mistral", "sliding_window": 32}}, "gemma": {"model": {**MODEL, "model_type": "gemma", "head_dim": 32}},
        "llava_text": {"model": vision()["llava_lora"]["model"], "images": 1, "freeze": ["vision_tower"]}, "qwen2_vl": grids()["qwen2_vl_full"],
        "eager": {"attn": "eager"}, "prepared": {"tp": {"degree": 2, "plan": {"model.layers.*.mlp": {"style": "prepare_input", "input_layouts": "replicate", "desired_input_layouts": "replicate"},
            "model.layers.*.mlp.gate_proj": "colwise", "model.layers.*.mlp.up_proj": "colwise", "model.layers.*.mlp.down_proj": "rowwise"}}},
        "llava": {"model": vision()["llava_lora"]["model"], "images": 1, "tp": {"degree": 2, "plan": {"model.language_model.layers.*.mlp.gate_proj": "colwise", "model.language_model.layers.*.mlp.up_proj": "colwise",
            "model.language_model.layers.*.mlp.down_proj": "rowwise", "model.vision_tower.encoder.layers.*.mlp.fc1": "colwise", "model.vision_tower.encoder.layers.*.mlp.fc2": "rowwise", "lm_head": "colwise"}}},
        "lora": {"lora": {**LORA, "target_modules": ["q_proj", "o_proj"]}, "tp": {"degree": 2, "plan": {
            "model.layers.*.self_attn.q_proj.base_layer": "colwise", "model.layers.*.self_attn.q_proj.lora_B.default": "colwise", "model.layers.*.self_attn.k_proj": "colwise",
            "model.layers.*.self_attn.v_proj": "colwise", "model.layers.*.self_attn.o_proj.base_layer": "rowwise", "model.layers.*.self_attn.o_proj.lora_A.default": "rowwise"}}},
        "sequence": sequence, "sequence_qwen3": {**sequence, "model": {**MODEL, "model_type": "qwen3", "head_dim": 32}}, "sequence_freeze": {**sequence, "freeze": ["embed_tokens", "mlp", "layernorm"]},
        "sequence_eager": {**sequence, "attn": "eager"}, "sequence_wide": {**sequence, "batch": 4, "seq": 1024, "steps": 2, "max_grad_norm": 1.0}, "sequence_four": {**four, "tp": {"degree": 4, "sequence_parallel": True}, "rank": 1}, "sequence_checkpoint": {**sequence, "checkpointing": "non_reentrant"},
        "sequence_reentrant": {**sequence, "checkpointing": "reentrant"},
        "sequence_accumulate": {**sequence, "grad_accumulation": 2}, "sequence_clip": {**sequence, "max_grad_norm": 1.0}, "sequence_amp": {**sequence, "dtype": "fp32", "autocast": "bf16"},
        "sequence_loop": {**sequence, "optimizer_impl": "loop"}, "sequence_fused": {**sequence, "optimizer_impl": "fused"}, "sequence_one_sample": {**sequence, "batch": 1}}.items()}


def tensor_and_data_parallel():
    """DistributedDataParallel around modules that are split: it sees parts as plain tensors, and makes DTensors of them in the first forward pass."""
    plan, sequence = {"tp": {"degree": 2, "plan": FULL_PLAN}}, {"tp": {"degree": 2, "sequence_parallel": True}}
    return {"tp_ddp_" + name: {"gpus": 4, "parallel": "ddp", "tp": {"degree": 2}, **options} for name, options in {
        "plain": {}, "plan": plan, "sequence": sequence, "plan_eight": {**plan, "gpus": 8, "rank": 5}, "plan_clip": {**plan, "max_grad_norm": 1.0},
        "plan_accumulate": {**plan, "grad_accumulation": 2}, "plan_checkpoint": {**plan, "checkpointing": "non_reentrant"}, "freeze": {**plan, "freeze": ["mlp", "norm"]},
        "sequence_views": {**sequence, "ddp": {"gradient_as_bucket_view": True}}, "biased_amp": {"model": {**MODEL, "model_type": "qwen2"}, "dtype": "fp32", "autocast": "bf16"},
        "sgd": {**plan, "optimizer": "sgd", "momentum": 0.9}, "one": {"gpus": 2}}.items()}


def pipeline():
    """Stages of torch.distributed.pipelining: every rank of each schedule, and what lives from one micro-batch to the next."""
    text = {**MODEL, "num_hidden_layers": 6}
    two, gpipe = {"degree": 2, "schedule": "1f1b", "microbatches": 4}, {"degree": 2, "schedule": "gpipe", "microbatches": 4}
    four, twice = {"degree": 4, "schedule": "1f1b", "microbatches": 8}, {"degree": 2, "schedule": "interleaved_1f1b", "microbatches": 4, "stages_per_rank": 2}
    bfs, once = {**twice, "schedule": "looped_bfs"}, {"degree": 1, "schedule": "gpipe", "microbatches": 1}
    llava = {"model": {**vision()["llava_lora"]["model"], "text_config": text}, "images": 1, "pp": two}
    schedules = {
        "1f1b": two, "1f1b_equal": {**two, "microbatches": 2}, "1f1b_four": four, "1f1b_four_equal": {**four, "microbatches": 4},
        "gpipe": gpipe, "gpipe_one": {**gpipe, "microbatches": 1}, "gpipe_four": {**gpipe, "degree": 4}, "gpipe_few": {**gpipe, "degree": 4, "microbatches": 2},
        "interleaved": twice, "interleaved_one": {**twice, "microbatches": 1}, "interleaved_rest": {**twice, "degree": 3, "layers": [1] * 6},
        "interleaved_thrice": {**twice, "stages_per_rank": 3, "microbatches": 8}, "interleaved_here": {**twice, "degree": 1},
        "bfs": bfs, "bfs_four": {**bfs, "degree": 4, "layers": [1, 1, 1, 1, 1, 1, 0, 0]}, "bfs_here": {**bfs, "degree": 1, "return_outputs": False},
        "alone": once, "alone_1f1b": {**two, "degree": 1}, "quiet": {**two, "return_outputs": False}, "quiet_gpipe": {**gpipe, "return_outputs": False},
        "unscaled": {**two, "scale_grads": False}, "uneven": {**two, "layers": [4, 2]}, "ends": {**four, "microbatches": 4, "layers": [0, 6, 0, 0]}}   # of which ranks 0 and 1 are recorded
    loops = {
        "checkpoint": {"checkpointing": "non_reentrant"}, "checkpoint_2": {"checkpointing": "non_reentrant", "checkpoint_every": 2},
        "reentrant": {"checkpointing": "reentrant"}, "reentrant_2_gpipe": {"checkpointing": "reentrant", "checkpoint_every": 2, "pp": gpipe},
        "checkpoint_interleaved": {"checkpointing": "non_reentrant", "pp": twice}, "reentrant_interleaved": {"checkpointing": "reentrant", "pp": twice},
        "accumulate": {"grad_accumulation": 2}, "clip": {"max_grad_norm": 1.0}, "clip_interleaved": {"max_grad_norm": 1.0, "pp": twice}, "fused": {"optimizer_impl": "fused"},
        "loop": {"optimizer_impl": "loop"}, "sgd": {"optimizer": "sgd", "momentum": 0.9}, "fill_zeros": {"set_to_none": False},
        "before_forward": {"zero_grad": "before_forward"}, "no_cache": {"use_cache": "false"}, "fp32": {"dtype": "fp32"}, "eager": {"attn": "eager"},
        "steps": {"steps": 5}, "everything": {"pp": twice, "checkpointing": "non_reentrant", "grad_accumulation": 2, "max_grad_norm": 1.0, "lora": LORA}}
    parts = {
        "lora": {"lora": LORA}, "lora_default": {"lora": {}, "pp": gpipe}, "lora_head": {"lora": {**LORA, "target_modules": ["lm_head", "v_proj"]}},
        "lora_low": {"lora": {**LORA, "adapter_dtype": "bf16"}}, "lora_reentrant": {"lora": LORA, "checkpointing": "reentrant"},
        "freeze": {"freeze": ["embed_tokens", "layers.0.", "layers.4."]}, "freeze_gpipe": {"freeze": ["embed_tokens", "layers.0.", "layers.4."], "pp": gpipe},
        "train_attention": {"train_only": ["self_attn"], "max_grad_norm": 1.0}, "freeze_stage": {"freeze": ["embed_tokens", "layers.0.", "layers.1."], "pp": twice},
        "freeze_head": {"freeze": ["lm_head", "norm.weight"]}}
    families = {
        "qwen2": {"model": {**text, "model_type": "qwen2"}}, "phi3": {"model": {**text, "model_type": "phi3", "pad_token_id": 0}},
        "mistral": {"model": {**text, "model_type": "mistral", "sliding_window": 32}}, "gemma": {"model": {**text, "model_type": "gemma", "head_dim": 32, "tie_word_embeddings": False}},
        "qwen3": {"model": {**text, "model_type": "qwen3", "head_dim": 32}}, "gpt_neox": {"model": {"model_type": "gpt_neox", "hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 1024, "intermediate_size": 256, "hidden_dropout": 0.1}},
        "tied_alone": {"model": {**text, "tie_word_embeddings": True}, "pp": once},
        "llava": llava, "llava_frozen": {**llava, "freeze": ["vision_tower"]}, "llava_lora": {**llava, "lora": vision()["llava_lora"]["lora"]},
        "llava_reentrant": {**llava, "checkpointing": "reentrant", "checkpoint_every": 2},
        "llava_gpipe": {**llava, "pp": {**gpipe, "layers": [1, 5]}, "checkpointing": "non_reentrant", "freeze": ["vision_tower"]}}
    found = {**{name: {"pp": pp} for name, pp in schedules.items()}, **{name: {"pp": two, **options} for group in (loops, parts, families) for name, options in group.items()}}
    copies = {  # the pipeline's ranks are two apart
        "ddp": {}, "ddp_gpipe": {"pp": gpipe}, "ddp_interleaved": {"pp": twice}, "ddp_views": {"ddp": {"gradient_as_bucket_view": True}},
        "ddp_small_buckets": {"ddp": {"bucket_cap_mb": 1}}, "ddp_quiet_buffers": {"ddp": {"broadcast_buffers": False}}, "ddp_checkpoint": {"checkpointing": "non_reentrant"},
        "ddp_reentrant": {"checkpointing": "reentrant", "ddp": {"gradient_as_bucket_view": True}}, "ddp_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0}, "ddp_lora": {"lora": LORA}}
    wide = {**text, "hidden_size": 256, "intermediate_size": 1376, "vocab_size": 4096}
    return {**{f"pp_{name}_{rank}": {"model": text, "batch": 8, "gpus": options["pp"]["degree"], "rank": rank, **options}
               for name, options in found.items() for rank in range(2 if name == "ends" else options["pp"]["degree"])},
            **{f"pp_{name}_{rank}": {"model": wide, "batch": 8, "gpus": 4, "rank": rank, "parallel": "ddp", "pp": two, **options}
               for name, options in copies.items() for rank in ((0, 1, 2, 3) if name == "ddp" else (0, 2))}}


def zero3():
    """DeepSpeed's ZeRO-3: when parameters are gathered, gathered ahead and let go of, and what a step does with its parts."""
    def of(**zero):
        return {"zero": {"stage3_param_persistence_threshold": 1000, **zero}}

    few, ahead = of(reduce_bucket_size=100000), of(stage3_prefetch_bucket_size=60000)
    kinds = {"checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"}}
    llava = vision()["llava_lora"]["model"]
    cases = {
        "plain": {}, "one": {**of(), "gpus": 1}, "one_ahead": {**ahead, "gpus": 1}, "three": {**ahead, "gpus": 3}, "eight": {"gpus": 8}, "many": {**of(), "gpus": 64},
        "last": {**few, "gpus": 3, "rank": 2}, "accumulate": {"grad_accumulation": 3}, "accumulate_ahead": {**ahead, "grad_accumulation": 2},
        **kinds, **{name + "_ahead": {**ahead, **kind} for name, kind in kinds.items()}, "checkpoint_2": {**ahead, **kinds["checkpoint"], "checkpoint_every": 2},
        "steps": {**ahead, "steps": 5}, "keep_none": of(stage3_param_persistence_threshold=0), "keep_all": of(stage3_param_persistence_threshold=10000000),
        "keep_some": of(stage3_param_persistence_threshold=40000, stage3_model_persistence_threshold=60000),
        "no_prefetch": of(stage3_prefetch_bucket_size=0), "prefetch_little": of(stage3_prefetch_bucket_size=1), "prefetch": ahead, "prefetch_all": of(),
        "few_live": of(stage3_max_live_parameters=150000), "few_live_ahead": of(stage3_max_live_parameters=200000, stage3_prefetch_bucket_size=30000),
        "no_reuse": of(stage3_max_reuse_distance=0), "short_reuse": of(stage3_max_reuse_distance=100000, stage3_prefetch_bucket_size=40000),
        "small_buckets": few, "small_buckets_accumulate": {**few, "grad_accumulation": 2, "gpus": 3}, "tiny_buckets": {**of(reduce_bucket_size=20000), "gpus": 7},
        "sub_groups": of(sub_group_size=50000),
        "no_overlap": {"zero": {"overlap_comm": False}}, "no_overlap_ahead": {**of(overlap_comm=False, stage3_prefetch_bucket_size=60000, reduce_bucket_size=100000), "gpus": 3},
        "no_scatter": {"zero": {"reduce_scatter": False}}, "no_scatter_small": {**of(reduce_scatter=False, reduce_bucket_size=100000), "gpus": 3, "rank": 2},
        "apart": of(contiguous_gradients=False), "apart_small": {**of(contiguous_gradients=False, reduce_bucket_size=100000), "grad_accumulation": 2},
        "no_clip": {"zero": {"gradient_clipping": 0.0}}, "clip": of(gradient_clipping=0.5, sub_group_size=200000), "fused": {"optimizer_impl": "fused"}, "adam_decay": {"optimizer": "adam", "weight_decay": 0.1},
        "tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "tied_ahead": {**ahead, "model": {**MODEL, "tie_word_embeddings": True}, "checkpointing": "non_reentrant"},
        "freeze": {**ahead, "freeze": ["embed_tokens", "layers.0."]}, "freeze_checkpoint": {**ahead, "freeze": ["layers.1.", "q_proj"], "checkpointing": "non_reentrant"},
        "freeze_reentrant": {**ahead, "freeze": ["layers.1.", "q_proj"], "checkpointing": "reentrant"}, "train_norms": {**of(), "train_only": ["norm"]},
        "offload": {"zero": {"offload_optimizer": "cpu"}}, "offload_accumulate": {**of(offload_optimizer="cpu", reduce_bucket_size=100000, sub_group_size=50000), "gpus": 3, "grad_accumulation": 2},
        "offload_param": of(offload_param="cpu"), "offload_param_one": {**of(offload_param="cpu", stage3_prefetch_bucket_size=60000), "gpus": 1},
        "offload_both": {**of(offload_param="cpu", offload_optimizer="cpu", stage3_prefetch_bucket_size=60000), "gpus": 3, "checkpointing": "non_reentrant"},
        "lora": {"lora": LORA}, "lora_ahead": {**ahead, "lora": LORA}, "lora_checkpoint": {**ahead, "lora": LORA, "checkpointing": "non_reentrant"},
        "lora_reentrant": {**ahead, "lora": LORA, "checkpointing": "reentrant"}, "eager": {**ahead, "attn": "eager"},
        "classifier": {**ahead, "model": {**MODEL, "pad_token_id": 0, "num_labels": 3}, "head": "sequence_classification"},
        "wide": {**of(), "model": {**MODEL, "hidden_size": 1536, "intermediate_size": 4864, "num_hidden_layers": 1, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 24000}, "batch": 1},
        **{"llava_" + name: {**ahead, "model": llava, "images": 1, **options} for name, options in {
            "full": {}, "pretrain": {"train_only": ["multi_modal_projector"]}, "finetune": {"freeze": ["vision_tower"]}, "pretrain_checkpoint": {"train_only": ["multi_modal_projector"], **kinds["checkpoint"]},
            "finetune_checkpoint": {"freeze": ["vision_tower"], **kinds["checkpoint"]}, "finetune_reentrant": {"freeze": ["vision_tower"], **kinds["reentrant"]}, "full_checkpoint": kinds["checkpoint"], "full_reentrant": kinds["reentrant"], "defaults": {"zero": {}}}.items()},
        **{"model_" + name: {**ahead, **options} for name, options in zero3_models().items()}}
    return {f"zero3_{name}": {"gpus": 2, "parallel": "zero3", **options} for name, options in cases.items()}


def zero3_models():
    """One of each family: every module that is called counts."""
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024}
    gated = {**sizes, "intermediate_size": 344, "num_key_value_heads": 2}
    opt = {"model_type": "opt", **sizes, "ffn_dim": 256}
    qwen2_vl = grids()["qwen2_vl_full"]
    older = {name: older_families()[name + "_full"]["model"] for name in ("bloom", "gpt_neo", "gpt_bigcode", "codegen", "biogpt")}
    others = {"gemma2": {"model_type": "gemma2", **gated, "head_dim": 32}, **older, "gemma": {"model_type": "gemma", **gated, "head_dim": 32},
              "gpt2": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024}}
    kinds = {"": {}, "_checkpoint": {"checkpointing": "non_reentrant"}, "_reentrant": {"checkpointing": "reentrant"}, "_eager": {"attn": "eager"}}
    refused = ("gpt_neo_checkpoint", "gpt2_eager")
    return {
        "opt": {"model": opt}, "opt_checkpoint": {"model": opt, "checkpointing": "non_reentrant"}, "opt_after": {"model": {**opt, "do_layer_norm_before": False, "word_embed_proj_dim": 64}},
        "gpt_neox": {"model": {"model_type": "gpt_neox", **sizes, "intermediate_size": 256}}, "mistral": {"model": {"model_type": "mistral", **gated}},
        "qwen2": {"model": {"model_type": "qwen2", **gated}}, "qwen3": {"model": {"model_type": "qwen3", **gated, "head_dim": 32}, "checkpointing": "reentrant"},
        "phi3": {"model": {"model_type": "phi3", **gated, "pad_token_id": 0}}, "cwm": {"model": {"model_type": "cwm", **gated, "head_dim": 32}},
        "qwen2_vl": qwen2_vl, "qwen2_vl_frozen": {**qwen2_vl, "freeze": ["visual"], "checkpointing": "non_reentrant"},
        **{f"{name}{kind}": {"model": model, **options} for name, model in others.items() for kind, options in kinds.items()
           if name + kind not in refused},
    }
