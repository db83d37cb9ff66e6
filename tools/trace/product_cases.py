"""Cases of record_steps.py in which several strategies for many GPUs are at work at once."""

from step_groups import FULL_PLAN, LORA, MODEL, vision

POLICY = {"param_dtype": "bf16", "reduce_dtype": "fp32"}
PLAN = {"tp": {"degree": 2, "plan": FULL_PLAN}}
SEQUENCE = {"tp": {"degree": 2, "sequence_parallel": True}}
ODD = {"model": {**MODEL, "hidden_size": 132, "head_dim": 32, "vocab_size": 1022}}


def mixed(**fsdp2):
    return {"dtype": "fp32", "fsdp2": {**POLICY, **fsdp2}}


def fully_sharded_in_two_dimensions():
    """fully_shard of modules that are split: what is gathered is a part, and its gradient is made one before it is reduced."""
    ways = lambda how: {"fsdp2": {"reshard_after_forward": how}}
    kinds = {"checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"}}
    return {"tp_fsdp2_" + name: {"gpus": 4, "parallel": "fsdp2", **options} for name, options in {
        "plain": {"tp": {"degree": 2}}, "plan": PLAN, "sequence": SEQUENCE, "one_shard": {**SEQUENCE, "gpus": 2}, "one_part": {"tp": {"degree": 1, "plan": FULL_PLAN}},
        **{"sequence_" + name: {**SEQUENCE, **kind} for name, kind in kinds.items()}, **{"plan_" + name: {**PLAN, **mixed(), **kind} for name, kind in kinds.items()},
        "sequence_mixed": {**SEQUENCE, **mixed()}, "sequence_mixed_reentrant": {**SEQUENCE, **mixed(), **kinds["reentrant"]}, "plan_mixed": {**PLAN, **mixed()}, "mixed_eight": {**SEQUENCE, **mixed(), "gpus": 8, "rank": 5},
        "sequence_mixed_checkpoint": {**SEQUENCE, **mixed(), **kinds["checkpoint"]}, "reshard": {**SEQUENCE, **ways("true")}, "keep": {**SEQUENCE, **ways("false")},
        "keep_mixed": {**PLAN, **mixed(reshard_after_forward="false")}, "odd": {**ODD, **PLAN, "gpus": 6}, "odd_last": {**ODD, **SEQUENCE, "gpus": 6, "rank": 5},
        "four_parts": {"tp": {"degree": 4, "sequence_parallel": True}, "gpus": 8, "rank": 6, "model": {**MODEL, "num_key_value_heads": 4}},
        "clip": {**SEQUENCE, "max_grad_norm": 1.0}, "clip_plan": {"tp": {"degree": 2, "sequence_parallel": True}, "gpus": 8, **mixed(), "max_grad_norm": 1.0}, "clip_one": {**SEQUENCE, "gpus": 2, "max_grad_norm": 1.0},
        "accumulate": {**SEQUENCE, "grad_accumulation": 2}, "accumulate_mixed": {**PLAN, **mixed(), "grad_accumulation": 2},
        "apart": {**SEQUENCE, "fsdp2": {"requires_gradient_sync": False}, "grad_accumulation": 3}, "apart_mixed": {**SEQUENCE, **mixed(requires_gradient_sync=False), "grad_accumulation": 3},
        "fused": {**SEQUENCE, "optimizer_impl": "fused"}, "loop": {**PLAN, "optimizer_impl": "loop"}, "sgd": {**SEQUENCE, "optimizer": "sgd", "momentum": 0.9}, "adam_decay": {**PLAN, "optimizer": "adam", "weight_decay": 0.1},
        "amp": {**PLAN, "dtype": "fp32", "autocast": "bf16"}, "freeze": {**SEQUENCE, "freeze": ["embed_tokens", "layers.0."]}, "tied": {**PLAN, "model": {**MODEL, "tie_word_embeddings": True}},
        "biased": {**PLAN, **mixed(), "model": {**MODEL, "model_type": "qwen2"}}, "qwen3": {**SEQUENCE, "model": {**MODEL, "model_type": "qwen3", "head_dim": 32}}, "eager": {**SEQUENCE, "attn": "eager"},
        "steps": {**SEQUENCE, "steps": 5}, "before_forward": {**SEQUENCE, "zero_grad": "before_forward"}, "fill_zeros": {**SEQUENCE, "set_to_none": False},
        "wide": {**SEQUENCE, **mixed(), "batch": 4, "seq": 1024, "steps": 2, "max_grad_norm": 1.0}, "offload": {**PLAN, "fsdp2": {"offload_policy": "cpu"}},
        "lora": {"lora": {**LORA, "target_modules": ["q_proj", "o_proj"]}, "tp": {"degree": 2, "plan": {
            "model.layers.*.self_attn.q_proj.base_layer": "colwise", "model.layers.*.self_attn.q_proj.lora_B.default": "colwise", "model.layers.*.self_attn.k_proj": "colwise",
            "model.layers.*.self_attn.v_proj": "colwise", "model.layers.*.self_attn.o_proj.base_layer": "rowwise", "model.layers.*.self_attn.o_proj.lora_A.default": "rowwise"}}},
        "llava": {"model": vision()["llava_lora"]["model"], "images": 1, "freeze": ["vision_tower"], "tp": {"degree": 2}}}.items()}


def hybrid_sharded():
    """fully_shard on a mesh of two dimensions: shards within a node, say, and copies of them on the others (HSDP)."""
    def of(copies, **fsdp2):
        return {"fsdp2": {"data_parallel_replicate_degree": copies, **fsdp2}}

    def mixed_of(copies, **fsdp2):
        return {"dtype": "fp32", **of(copies, **POLICY, **fsdp2)}

    return {"hsdp_" + name: {"gpus": 4, "parallel": "fsdp2", **options} for name, options in {
        "plain": of(2), "mixed": mixed_of(2), "last": {**ODD, **mixed_of(2), "gpus": 6, "rank": 5}, "four": {**mixed_of(4), "gpus": 8}, "one_copy": of(1), "one_shard": mixed_of(4), "one_shard_plain": of(4),
        "reduce_high": of(2, reduce_dtype="fp32"), "reduce_low": {"dtype": "fp32", **of(2, param_dtype="bf16")}, "checkpoint": {**mixed_of(2), "checkpointing": "non_reentrant"}, "reentrant": {**mixed_of(2), "checkpointing": "reentrant"},
        "keep": mixed_of(2, reshard_after_forward="false"), "reshard": of(2, reshard_after_forward="true"), "reshard_two": {**mixed_of(2, reshard_after_forward="2"), "gpus": 8},
        "accumulate": {**mixed_of(2), "grad_accumulation": 2}, "apart": {**of(2, requires_gradient_sync=False), "grad_accumulation": 3}, "apart_mixed": {**mixed_of(2, requires_gradient_sync=False), "grad_accumulation": 3},
        "clip": {**of(2), "max_grad_norm": 1.0}, "clip_mixed": {**mixed_of(2), "max_grad_norm": 1.0}, "clip_one_shard": {**of(4), "max_grad_norm": 1.0}, "clip_one_copy": {**of(1), "max_grad_norm": 1.0},
        "fused": {**of(2), "optimizer_impl": "fused"}, "lora": {**of(2), "lora": LORA}, "freeze": {**mixed_of(2), "freeze": ["embed_tokens", "layers.0."]}, "tied": {**mixed_of(2), "model": {**MODEL, "tie_word_embeddings": True}},
        "offload": mixed_of(2, offload_policy="cpu"), "wrapped": {**mixed_of(2), "load": "wrapped"}, "llava": {**mixed_of(2), "model": vision()["llava_lora"]["model"], "images": 1, "checkpointing": "non_reentrant"},
        "tp": {**of(2), **SEQUENCE, "gpus": 8}, "tp_mixed_clip": {**mixed_of(2), **SEQUENCE, "gpus": 8, "rank": 7, "max_grad_norm": 1.0}, "tp_plan": {**mixed_of(2), **PLAN, "gpus": 8, "checkpointing": "non_reentrant"}, "fill_zeros": {**mixed_of(2), "set_to_none": False}}.items()}


def pipelines_of_sharded_stages():
    """Stages of a pipeline that are sharded, split, or both."""
    text = {**MODEL, "num_hidden_layers": 4}
    two, gpipe = {"degree": 2, "schedule": "1f1b", "microbatches": 4}, {"degree": 2, "schedule": "gpipe", "microbatches": 4}
    twice = {"degree": 2, "schedule": "interleaved_1f1b", "microbatches": 4, "stages_per_rank": 2}
    bfs = {**twice, "schedule": "looped_bfs"}
    kinds = {"checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"}}
    sharded = {"parallel": "fsdp2", "gpus": 4}
    both = {**sharded, "gpus": 8, **PLAN}
    llava = {"model": {**vision()["llava_lora"]["model"], "text_config": text}, "images": 1}
    found = {
        **{"fsdp2_" + name: {**sharded, **options} for name, options in {
            "plain": {}, "gpipe": {"pp": gpipe}, "mixed": mixed(), "reshard": {"fsdp2": {"reshard_after_forward": "true"}}, "reshard_mixed": mixed(reshard_after_forward="true"),
            "clip": {**mixed(), "max_grad_norm": 1.0}, "accumulate": {**mixed(), "grad_accumulation": 2}, **{name: {**mixed(), **kind} for name, kind in kinds.items()}, "lora": {**mixed(), "lora": LORA},
            "freeze": {"freeze": ["embed_tokens", "layers.0.", "layers.2."]}, "interleaved": {**mixed(), "pp": twice}, "bfs": {**mixed(), "pp": bfs}, "interleaved_reshard": {**mixed(reshard_after_forward="true"), "pp": twice},
            "interleaved_checkpoint": {**mixed(), "pp": twice, **kinds["checkpoint"]}, "hsdp": {**mixed(data_parallel_replicate_degree=2), "gpus": 8}, "llava": {**mixed(), **llava}, "fill_zeros": {**mixed(), "set_to_none": False}}.items()},
        **{"tp_" + name: {"gpus": 4, **PLAN, **options} for name, options in {
            "plain": {"tp": {"degree": 2}}, "plan": {}, "gpipe": {"pp": gpipe}, "interleaved": {"pp": twice}, "checkpoint": kinds["checkpoint"]}.items()},
        **{"tp_fsdp2_" + name: {**both, **options} for name, options in {"plain": {}, "mixed": mixed(), "checkpoint": {**mixed(), **kinds["checkpoint"]}}.items()}}
    cases = {}
    for name, options in found.items():
        spec = {"model": text, "batch": 8, "pp": two, **options}
        apart = spec["gpus"] // spec["pp"]["degree"]
        for rank in (apart - 1, 2 * apart - 1):
            cases[f"pp_{name}_{rank}"] = {**spec, "rank": rank}
    return cases


def flat_hybrid_sharded():
    """FSDP1's: a node shards, and nodes are copies."""
    hybrid = {"sharding_strategy": "HYBRID_SHARD"}
    return {"fsdp1_hybrid_" + name: {"gpus": 4, "gpus_per_node": 2, "parallel": "fsdp1", "fsdp1": hybrid, **options} for name, options in {
        "plain": {}, "mixed": {"dtype": "fp32", "fsdp1": {**POLICY, **hybrid}}, "keep": {"fsdp1": {"sharding_strategy": "_HYBRID_SHARD_ZERO2"}, "gpus_per_node": 4, "rank": 1},
        "mixed_keep": {"dtype": "fp32", "fsdp1": {**POLICY, "sharding_strategy": "_HYBRID_SHARD_ZERO2"}}, "checkpoint": {"dtype": "fp32", "fsdp1": {**POLICY, **hybrid}, "checkpointing": "non_reentrant", "grad_accumulation": 2},
        "clip": {"dtype": "fp32", "fsdp1": {**POLICY, **hybrid}, "max_grad_norm": 1.0}}.items()}


def products():
    return {**fully_sharded_in_two_dimensions(), **hybrid_sharded(), **pipelines_of_sharded_stages(), **flat_hybrid_sharded()}
