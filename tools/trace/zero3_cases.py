"""ZeRO-3 over mixtures of experts, whose sparse blocks DeepSpeed takes for leaf modules."""

from step_groups import LORA, experts


def leaf_modules():
    known = experts()
    ahead = {"zero": {"stage3_param_persistence_threshold": 1000, "stage3_prefetch_bucket_size": 60000}}
    kinds = {
        "": {}, "_ahead": ahead, "_one": {**ahead, "gpus": 1}, "_three": {**ahead, "gpus": 3, "rank": 2}, "_checkpoint": {**ahead, "checkpointing": "non_reentrant"},
        "_reentrant": {**ahead, "checkpointing": "reentrant"}, "_accumulate": {"grad_accumulation": 2}, "_offload": {"zero": {"offload_optimizer": "cpu"}},
        "_small": {"zero": {"stage3_param_persistence_threshold": 1000, "reduce_bucket_size": 100000}, "gpus": 3},
    }
    few = {
        "_lora": {"lora": {**LORA, "target_modules": ["q_proj", "v_proj"]}}, "_loss": {"model": known["mixtral_loss"]["model"]}, "_eager": {**ahead, "experts_implementation": "eager"},
        "_skewed": {"experts_implementation": "eager", "moe_routing": "skewed:0.5"}, "_freeze": {**ahead, "freeze": ["embed_tokens", "layers.0."]},
        "_frozen_experts": {**ahead, "freeze": ["experts"]}, "_frozen_router": {"freeze": ["mlp.gate"], "checkpointing": "non_reentrant"},
        "_clip": {"zero": {"gradient_clipping": 0.5, "sub_group_size": 200000}, "gpus": 3, "rank": 1}, "_offload_param": {"zero": {"offload_param": "cpu"}},
    }
    models = {"mixtral": "mixtral_full", "qwen2_moe": "qwen2_moe_full", "qwen3_moe": "qwen3_moe_full"}
    found = {f"{name}{kind}": {"model": known[case]["model"], **options} for name, case in models.items() for kind, options in kinds.items()}
    for kind in ("_ahead", "_three", "_checkpoint", "_reentrant"):   # their parameters come in several buffers, for which DeepSpeed waits in the order of a set
        del found["qwen2_moe" + kind]
    found |= {f"mixtral{kind}": {"model": known["mixtral_full"]["model"], **options} for kind, options in few.items()}
    return {f"zero3_leaf_{name}": {"gpus": 2, "parallel": "zero3", **options} for name, options in found.items()}
