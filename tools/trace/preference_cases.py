"""Cases of record_steps.py: TRL's trainers of preferences, with a reference that scores each batch, too."""

from quantization_cases import NESTED
from step_groups import LORA, MODEL


def preferences():
    """name: options"""
    amp, low = {"autocast": "bf16"}, {"lora": {**LORA, "adapter_dtype": "bf16"}}
    cases = {
        "": {}, "_amp": {**amp, "dtype": "fp32"}, "_amp_bf16": amp, "_fp16": {"dtype": "fp32", "autocast": "fp16", "grad_scaler": True}, "_lora": {"lora": LORA, **amp}, "_lora_amp": {"lora": LORA, **amp, "dtype": "fp32"},
        "_checkpoint": {"checkpointing": "non_reentrant", **amp}, "_reentrant": {"checkpointing": "reentrant", **amp}, "_lora_checkpoint": {"lora": LORA, "checkpointing": "non_reentrant", **amp}, "_lora_reentrant": {"lora": LORA, "checkpointing": "reentrant", **amp},
        "_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0, **amp}, "_qlora": {**low, **amp, "quantization": NESTED, "checkpointing": "non_reentrant"},
    }
    of_text = {"_words": {"model": {**MODEL, "vocab_size": 70000}, **amp}, "_tied": {"model": {**MODEL, "tie_word_embeddings": True}, **amp}, "_tokens": {"batch": 3, "seq": 1024, **amp}}
    return {"dpo" + name: {"loop": "dpo_trainer", **options} for name, options in (cases | of_text).items()}
