"""The cases of record_steps.py: specs of `tidemark predict`, each an option or a pair of options that changes memory."""

MODEL = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 3, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 1024}
BASE = {"model": MODEL, "batch": 2, "seq": 64}
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
        "lora_clip": {**lora, "max_grad_norm": 1.0}, "lora_accumulate": {**lora, "grad_accumulation": 2},
        "lora_checkpoint": {**lora, "checkpointing": "non_reentrant"}, "lora_reentrant": {**lora, "checkpointing": "reentrant"},
        "lora_fused": {**lora, "optimizer_impl": "fused"}, "lora_loop": {**lora, "optimizer_impl": "loop"},
        "lora_adafactor": {**lora, "optimizer": "adafactor"}, "lora_sgd": {**lora, "optimizer": "sgd", "momentum": 0.9},
        "lora_scaler": {**lora, **HALF, "max_grad_norm": 1.0},
        "lora_rmsprop": {**lora, "optimizer": "rmsprop", "centered": True}, "lora_adagrad": {**lora, "optimizer": "adagrad"},
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
        "static_text_alone": {**text_alone, "ddp": static},
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
        "gemma2": {"model": {**MODEL, "model_type": "gemma2", "head_dim": 32}}}.items()}


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
    return {
        "opt": {"model": opt}, "opt_checkpoint": {"model": opt, "checkpointing": "non_reentrant"}, "opt_after": {"model": {**opt, "do_layer_norm_before": False, "word_embed_proj_dim": 64}},
        "gpt2": {"model": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024}},
        "gpt_neox": {"model": {"model_type": "gpt_neox", **sizes, "intermediate_size": 256}}, "gemma": {"model": {"model_type": "gemma", **gated, "head_dim": 32}},
        "mistral": {"model": {"model_type": "mistral", **gated}},
        "qwen2": {"model": {"model_type": "qwen2", **gated}}, "qwen3": {"model": {"model_type": "qwen3", **gated, "head_dim": 32}, "checkpointing": "reentrant"},
        "phi3": {"model": {"model_type": "phi3", **gated, "pad_token_id": 0}}, "cwm": {"model": {"model_type": "cwm", **gated, "head_dim": 32}},
        "qwen2_vl": qwen2_vl, "qwen2_vl_frozen": {**qwen2_vl, "freeze": ["visual"], "checkpointing": "non_reentrant"},
    }


def cases():
    found = []
    for name, options in optimizers().items():
        found.append((name, options))
        found.append((name + "_loop", {**options, "optimizer_impl": "loop"}))
        if options.get("optimizer", "adamw") in ("adamw", "adam", "sgd"):
            found.append((name + "_fused", {**options, "optimizer_impl": "fused"}))
        if options.get("optimizer") == "adafactor":
            found.append((name + "_foreach", {**options, "optimizer_impl": "foreach"}))
    for group in (steps(), adapters(), large(), vision(), grids(), families(), positions(), odd_heads(), classifiers(), data_parallel(), zero(), zero3()):
        found += group.items()
    listed = [{"name": name, "card": "h200", "spec": {**BASE, **options}} for name, options in found]
    elsewhere = ("adamw", "adafactor", "large_adafactor", "large_clip", "lora", "checkpoint", "scaler_clip", "reentrant_amp")
    return listed + [{**case, "name": f"{case['name']}_on_{card.replace('-', '_')}", "card": card}
                     for card in ("a100-80gb", "rtx-4090") for case in listed if case["name"] in elsewhere]
