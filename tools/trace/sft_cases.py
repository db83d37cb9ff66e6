"""Cases of record_steps.py: TRL's SFTTrainer, whose loss takes the head in tiles."""

from quantization_cases import NESTED
from step_groups import LORA, MODEL, vision


def sft_trainer():
    """name: options"""
    amp, all_words = {"autocast": "bf16"}, {"model": {**MODEL, "vocab_size": 70000}}
    tied = {"model": {**MODEL, "tie_word_embeddings": True}}
    low = {"lora": {**LORA, "adapter_dtype": "bf16"}}
    gpt2 = {"model": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 256, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}}
    gemma = {"model": {**MODEL, "model_type": "gemma2", "head_dim": 32, "sliding_window": 4096, "num_hidden_layers": 2}}
    phi = {"model": {"model_type": "phi", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 70000}}   # its head has a bias
    # Experts without a loss that balances them.
    sizes = {"hidden_size": 128, "intermediate_size": 256, "moe_intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024, "n_routed_experts": 16, "num_experts_per_tok": 2, "first_k_dense_replace": 1}
    deepseek = {"model_type": "deepseek_v3", **sizes, "n_group": 8, "topk_group": 4, "num_hidden_layers": 4, "first_k_dense_replace": 3, "num_key_value_heads": 4, "q_lora_rank": 48, "kv_lora_rank": 32, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32}
    glm = {"model_type": "glm4_moe", **sizes, "num_key_value_heads": 2, "head_dim": 32}
    mapped = {"load": "device_map", **all_words, **amp}   # its embeddings are cut out of the block that is asked for first
    cases = {
        "": {}, "_amp": {**amp, "dtype": "fp32"}, "_amp_bf16": amp, "_fp32": {"dtype": "fp32"}, "_fp16": {"dtype": "fp32", "autocast": "fp16", "grad_scaler": True}, "_words": all_words, "_words_amp": {**all_words, **amp, "dtype": "fp32"},
        "_tokens": {"batch": 5, "seq": 1024}, "_both": {**all_words, "batch": 5, "seq": 1024, "dtype": "fp32", **amp}, "_tied": tied, "_tied_amp": {**tied, "dtype": "fp32", **amp},
        "_checkpoint": {"checkpointing": "non_reentrant", **amp}, "_reentrant": {"checkpointing": "reentrant", **amp}, "_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0},
        "_lora": {"lora": LORA, **amp}, "_lora_tokens": {"lora": LORA, **amp, "batch": 5, "seq": 1024}, "_qlora": {**low, **amp, "quantization": NESTED, "checkpointing": "non_reentrant"},
        "_int8": {**low, **amp, "quantization": {"load_in_8bit": True}, "checkpointing": "non_reentrant"}, "_frozen_head": {"freeze": ["lm_head"]},
        "_gpt2": gpt2, "_phi": phi, "_phi_amp": {**phi, **amp, "dtype": "fp32"}, "_gemma2": gemma, "_llava": {**vision()["llava_lora"], **amp},
        "_mapped": mapped, "_mapped_lora": {**mapped, "lora": LORA, "max_grad_norm": 1.0}, "_mapped_fp32": {**mapped, "dtype": "fp32"}, "_mapped_tied": {**mapped, "model": {**all_words["model"], "tie_word_embeddings": True}},
        "_mapped_small": {**amp, "load": "device_map"}, "_mapped_qlora": {**mapped, **low, "quantization": NESTED, "checkpointing": "non_reentrant"}, "_mapped_int8": {**mapped, **low, "quantization": {"load_in_8bit": True}},
        "_ddp": {"gpus": 2, "parallel": "ddp", **amp, "max_grad_norm": 1.0}, "_deepseek_v3": {"model": deepseek}, "_glm4_moe": {"model": glm, **amp},
    }
    cases |= shared_by_gpus(all_words, tied)
    return {"sft" + name: {"loop": "sft_trainer", **options} for name, options in cases.items()}


def shared_by_gpus(all_words, tied):
    """Under DeepSpeed the head is whole (ZeRO 1 and 2) or gathered; of FSDP 2 it is one of the root's."""
    policy = {"load": "wrapped", "parallel": "fsdp2", "fsdp2": {"param_dtype": "bf16", "reduce_dtype": "bf16", "reshard_after_forward": "true"}, "max_grad_norm": 1.0}
    two, made = {"gpus": 2}, {"zero": {"init": "from_pretrained"}}
    ahead = {"zero": {"stage3_param_persistence_threshold": 1000, "stage3_prefetch_bucket_size": 60000}}
    cases = {
        "_zero1": {"parallel": "zero1"}, "_zero2": {"parallel": "zero2"}, "_zero2_words": {"parallel": "zero2", **all_words}, "_zero2_lora": {"parallel": "zero2", "lora": LORA}, "_zero2_checkpoint": {"parallel": "zero2", "checkpointing": "non_reentrant"},
        "_zero2_tied": {"parallel": "zero2", **tied}, "_zero2_accumulate": {"parallel": "zero2", "grad_accumulation": 2}, "_zero2_last": {"parallel": "zero2", "gpus": 4, "rank": 3},
        **{f"_zero3{name}": {"parallel": "zero3", **options} for name, options in {
            "": {}, "_four": {"gpus": 4, "rank": 3}, "_words": all_words, "_tied": tied, "_lora": {"lora": LORA}, "_checkpoint": {"checkpointing": "non_reentrant"}, "_accumulate": {"grad_accumulation": 2},
            "_ahead": ahead, "_init": made, "_init_lora": {**made, "lora": LORA}, "_init_tied": {**made, **tied}}.items()},
        "_fsdp2": policy, "_fsdp2_words": {**policy, **all_words}, "_fsdp2_lora": {**policy, "lora": LORA},
        "_fsdp2_lora_odd": {**policy, "lora": LORA, "model": {**MODEL, "vocab_size": 1001}, "rank": 1}, "_fsdp2_tied": {**policy, **tied}, "_fsdp2_accumulate": {**policy, "grad_accumulation": 2, "fsdp2": {**policy["fsdp2"], "requires_gradient_sync": False}},
        "_fsdp2_checkpoint": {**policy, "checkpointing": "non_reentrant"}, "_fsdp2_offload": {**policy, "fsdp2": {**policy["fsdp2"], "offload_policy": "cpu"}}, "_fsdp2_llava": {**policy, **vision()["llava_lora"]}, "_zero3_llava": {"parallel": "zero3", **vision()["llava_lora"]},
    }
    return {name: {**two, **options} for name, options in cases.items()}
