"""Cases of record_steps.py: TRL's trainers of preferences, of which two have a reference that scores each batch, too."""

from quantization_cases import NESTED
from step_groups import LORA, MODEL


def preferences():
    """name: options"""
    amp, low = {"autocast": "bf16"}, {"lora": {**LORA, "adapter_dtype": "bf16"}}
    gpt2 = {"model": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 256, "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1}}
    cases = {
        "": {}, "_amp": {**amp, "dtype": "fp32"}, "_amp_bf16": amp, "_fp16": {"dtype": "fp32", "autocast": "fp16", "grad_scaler": True}, "_lora": {"lora": LORA, **amp}, "_lora_amp": {"lora": LORA, **amp, "dtype": "fp32"},
        "_checkpoint": {"checkpointing": "non_reentrant", **amp}, "_reentrant": {"checkpointing": "reentrant", **amp}, "_lora_checkpoint": {"lora": LORA, "checkpointing": "non_reentrant", **amp}, "_lora_reentrant": {"lora": LORA, "checkpointing": "reentrant", **amp},
        "_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0, **amp}, "_qlora": {**low, **amp, "quantization": NESTED, "checkpointing": "non_reentrant"},
    }
    of_text = {"_words": {"model": {**MODEL, "vocab_size": 70000}, **amp}, "_tied": {"model": {**MODEL, "tie_word_embeddings": True}, **amp}, "_tokens": {"batch": 3, "seq": 1024, **amp}, "_gpt2": {**gpt2, **amp}, "_mapped": {**amp, "load": "device_map"}}
    scored = {"head": "sequence_classification", "model": {**MODEL, "pad_token_id": 0, "num_labels": 1}}
    return {
        **{"dpo" + name: {"loop": "dpo_trainer", **options} for name, options in (cases | of_text).items()},
        **{"kto" + name: {"loop": "kto_trainer", "batch": 3, **options} for name, options in (cases | of_text).items()},
        **{"reward" + name: {"loop": "reward_trainer", **scored, **options} for name, options in cases.items()},
    }
