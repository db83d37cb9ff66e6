"""Cases of record_steps.py: TRL's GRPOTrainer, whose completions come from elsewhere."""

from quantization_cases import NESTED
from step_groups import LORA, MODEL

TRAINING = {"loop": "grpo_trainer", "batch": 4, "seq": 96, "autocast": "bf16"}
GROUP = {"max_completion_length": 32, "num_generations": 4}


def groups_of_completions():
    """name: options"""
    low = {"lora": {**LORA, "adapter_dtype": "bf16"}}
    gpt2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 256, "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1}
    amp, lora, reference, served = {"dtype": "fp32"}, {"lora": LORA}, {"beta": 0.04}, {"use_vllm": True}
    cases = [
        ("", {}, {}), ("_bf16", {"autocast": "none"}, {}), ("_amp", amp, {}), ("_fp16", {**amp, "autocast": "fp16", "grad_scaler": True}, {}),
        ("_lora", lora, {}), ("_lora_amp", {**lora, **amp}, {}), ("_qlora", {**low, "quantization": NESTED, "checkpointing": "non_reentrant"}, {}),
        ("_reference", {}, reference), ("_reference_amp", amp, reference), ("_reference_lora", lora, reference),
        ("_vllm", {}, served), ("_vllm_amp", amp, served), ("_vllm_lora", lora, served | reference),
        ("_checkpoint", {"checkpointing": "non_reentrant"}, served), ("_reentrant", {"checkpointing": "reentrant"}, served), ("_lora_checkpoint", {**lora, "checkpointing": "non_reentrant"}, served | reference),
        ("_accumulate", {"grad_accumulation": 2, "max_grad_norm": 1.0}, served | reference), ("_groups", {"batch": 6, "grad_accumulation": 3}, served | {"num_generations": 2}),
        ("_many", {"batch": 160, "seq": 24}, {"max_completion_length": 8, "num_generations": 2, **served, **reference}),
        ("_words", {"model": {**MODEL, "vocab_size": 70000}}, {}), ("_tied", {"model": {**MODEL, "tie_word_embeddings": True}}, served), ("_tokens", {"seq": 2048}, {"max_completion_length": 1536, **served}), ("_gpt2", {"model": gpt2}, served),
        ("_mean", {}, {"loss_type": "grpo", **reference}), ("_bnpo", {}, {"loss_type": "bnpo"}), ("_dr", {}, {"loss_type": "dr_grpo", **served}), ("_sequence", {}, {"loss_type": "grpo", "importance_sampling_level": "sequence", **served}),
    ]  # fmt: skip
    return {"grpo" + name: {**TRAINING, **options, "grpo": {**GROUP, **group}} for name, options, group in cases}
