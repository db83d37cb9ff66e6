"""The cases of record_steps.py in which several GPUs share the tokens of each sample: specs with a key `cp`."""

GPT2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024}


def ring(degree=2, **options):
    return {"cp": {"degree": degree, **options}, "gpus": degree}


def on_ranks(cases):
    """{name: (spec, ranks)}"""
    return {f"cp_{name}_{rank}": {**options, "rank": rank} for name, (options, ranks) in cases.items() for rank in ranks}


def on_last_rank(cases):
    return {f"cp_{name}": {**options, "rank": options["gpus"] - 1} for name, options in cases.items()}


def loops(lora):
    """One ring in loops of every kind."""
    checkpoint, reentrant = {"checkpointing": "non_reentrant"}, {"checkpointing": "reentrant"}
    mixed, fp32 = {"dtype": "fp32", "autocast": "bf16"}, {"dtype": "fp32", "seq": 128}
    return {
        "checkpoint": checkpoint, "checkpoint_2": {**checkpoint, "checkpoint_every": 2}, "reentrant": reentrant, "reentrant_amp": {**reentrant, **mixed},
        "amp": mixed, "checkpoint_amp": {**checkpoint, **mixed}, "accumulate": {"grad_accumulation": 2}, "clip": {"max_grad_norm": 1.0}, "no_cache": {"use_cache": "false"},
        "scaler": {"dtype": "fp32", "autocast": "fp16", "grad_scaler": True}, "before_backward": {"zero_grad": "before_backward"}, "fill_zeros": {"set_to_none": False},
        "fused": {"optimizer_impl": "fused"}, "sgd": {"optimizer": "sgd", "momentum": 0.9}, "one_sample": {"batch": 1}, "steps": {"steps": 5},
        "lora": {"lora": lora}, "lora_checkpoint": {"lora": lora, **checkpoint}, "lora_reentrant": {"lora": lora, **reentrant},
        "freeze": {"freeze": ["embed_tokens", "layers.0."]}, "train_last": {"train_only": ["lm_head"]}, "train_attention": {"train_only": ["self_attn"], **checkpoint},
        "no_groups_fp32": {**fp32, "no_groups": True}, "no_groups_checkpoint_fp32": {**fp32, **checkpoint, "no_groups": True, "grad_accumulation": 2}}


def families():
    text = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024}
    gated = {**text, "intermediate_size": 344, "num_key_value_heads": 2}
    gpt2 = {"model": GPT2}
    experts = {"num_local_experts": 4, "num_experts_per_tok": 2, "model_type": "mixtral"}
    return {
        "gpt2": gpt2, "gpt2_checkpoint": {**gpt2, "checkpointing": "non_reentrant"}, "gpt2_amp": {**gpt2, "dtype": "fp32", "autocast": "bf16"},
        "gpt2_fp32": {**gpt2, "dtype": "fp32", "seq": 128}, "qwen2": {"model": {**gated, "model_type": "qwen2"}}, "qwen3": {"model": {**gated, "model_type": "qwen3", "head_dim": 32}},
        "mistral": {"model": {**gated, "model_type": "mistral", "sliding_window": None}}, "gemma": {"model": {**gated, "model_type": "gemma", "head_dim": 32}},
        "phi3": {"model": {**gated, "model_type": "phi3", "pad_token_id": 0}}, "opt": {"model": {**text, "model_type": "opt", "ffn_dim": 256}},
        "gpt_neox": {"model": {**text, "model_type": "gpt_neox", "intermediate_size": 256}}, "mixtral": {"model": {**gated, **experts}},
        "tied": {"model": {**gated, "model_type": "llama", "tie_word_embeddings": True}}}


def with_others(model):
    """The GPUs that share tokens, and others that share the data, in one group of DDP or fully_shard."""
    wide = {"model": {**model, "hidden_size": 256, "intermediate_size": 1376, "vocab_size": 4096}}
    ddp, fsdp2 = {"parallel": "ddp"}, {"parallel": "fsdp2"}
    checkpoint, pairs = {"checkpointing": "non_reentrant"}, {"gpus": 4, "cp": {"degree": 2}}
    mixed = {"dtype": "fp32", "fsdp2": {"param_dtype": "bf16", "reduce_dtype": "fp32"}}
    return {
        "ddp": ddp, "ddp_wide": {**wide, **ddp}, "ddp_pairs": {**ddp, **pairs}, "ddp_checkpoint": {**ddp, **checkpoint}, "ddp_amp": {**ddp, "dtype": "fp32", "autocast": "bf16"},
        "ddp_views": {"parallel": "ddp", "ddp": {"gradient_as_bucket_view": True}}, "ddp_no_sync": {"parallel": "ddp", "ddp": {"no_sync": True}, "grad_accumulation": 2, "max_grad_norm": 1.0},
        "fsdp2": fsdp2, "fsdp2_wide": {**wide, **fsdp2}, "fsdp2_pairs": {**fsdp2, **pairs}, "fsdp2_checkpoint": {**fsdp2, **checkpoint}, "fsdp2_mixed": {**fsdp2, **mixed},
        "fsdp2_mixed_checkpoint": {**fsdp2, **mixed, **pairs, **checkpoint}, "fsdp2_reentrant": {**fsdp2, "checkpointing": "reentrant"},
        "fsdp2_accumulate": {**fsdp2, **pairs, "grad_accumulation": 2, "max_grad_norm": 1.0}, "fsdp2_keep": {"parallel": "fsdp2", "fsdp2": {"reshard_after_forward": "false"}}}


def context_parallel(model, lora):
    """By rank, by how keys and values go round, with which kernels, and in which loop."""
    plain, alltoall = {"load_balance": False}, {"rotate_method": "alltoall"}
    ungrouped = {**model, "num_key_value_heads": 4}
    pair, all_four = (0, 1), (0, 1, 2, 3)
    fp32 = {"dtype": "fp32", "seq": 256, "model": ungrouped}
    rings = {
        "two": (ring(), pair), "two_plain": (ring(**plain), pair), "two_alltoall": (ring(**alltoall), pair), "two_alltoall_plain": (ring(**alltoall, **plain), pair),
        "restore": (ring(restore_buffers=True), pair), "restore_many": ({**ring(restore_buffers=True), "batch": 4}, pair), "three_alltoall": ({**ring(3, **alltoall), "seq": 96}, (0, 1, 2)),
        "four": (ring(4), all_four), "four_plain": (ring(4, **plain), all_four), "four_alltoall": (ring(4, **alltoall), all_four), "four_alltoall_plain": (ring(4, **alltoall, **plain), all_four),
        "four_fp32": ({**ring(4), **fp32}, all_four), "four_gpt2": ({**ring(4), "model": GPT2}, (0, 2)),
        "four_many": ({**ring(4), "batch": 6}, (0,)), "four_no_cache": ({**ring(4), "use_cache": "false"}, (0,)),
        "four_fp32_alltoall_plain": ({**ring(4, **alltoall, **plain), **fp32}, (0,)), "four_checkpoint": ({**ring(4), "checkpointing": "non_reentrant"}, (0, 3)),
        "four_fsdp2": ({**ring(4), "parallel": "fsdp2"}, (0, 3)), "eight": ({**ring(8), "seq": 128}, (5,))}
    single = {}
    for name, options in {**loops(lora), **families(), **with_others(model)}.items():
        options = {**ring(), **options}
        if options.pop("no_groups", False):
            options["model"] = ungrouped
        single[name] = options
    return {**on_ranks(rings), **on_last_rank(single)}
