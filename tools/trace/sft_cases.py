"""Cases of record_steps.py: TRL's SFTTrainer, whose loss takes the head in tiles."""

from step_groups import LORA, MODEL, vision
from quantization_cases import NESTED


def sft_trainer():
    """name: options"""
    amp, all_words = {"autocast": "bf16"}, {"model": {**MODEL, "vocab_size": 70000}}
    tied = {"model": {**MODEL, "tie_word_embeddings": True}}
    low = {"lora": {**LORA, "adapter_dtype": "bf16"}}
    gpt2 = {"model": {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024, "n_positions": 256, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}}
    gemma = {"model": {**MODEL, "model_type": "gemma2", "head_dim": 32, "sliding_window": 4096, "num_hidden_layers": 2}}
    phi = {"model": {"model_type": "phi", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 70000}}   # its head has a bias
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
        "_ddp": {"gpus": 2, "parallel": "ddp", **amp, "max_grad_norm": 1.0},
    }
    return {"sft" + name: {"loop": "sft_trainer", **options} for name, options in cases.items()}
