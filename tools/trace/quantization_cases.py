"""Cases of record_steps.py: adapters beside linear modules that bitsandbytes has quantized."""

from step_groups import HALF, LORA, MODEL, classifiers, vision

NESTED = {"quant_type": "nf4", "use_double_quant": True, "compute_dtype": "bf16"}
PREPARED = {**NESTED, "prepare": True}
WIDE = {**MODEL, "hidden_size": 1536, "intermediate_size": 4864, "num_hidden_layers": 1, "num_attention_heads": 12, "num_key_value_heads": 4}


def with_magnitudes():
    """DoRA beside weights in 4 bits."""
    dora, plain = {**LORA, "use_dora": True}, {**LORA, "use_dora": True, "dropout": 0}
    amp = {"autocast": "bf16"}
    return {
        "": {"lora": dora}, "_plain": {"lora": plain}, "_single": {"lora": plain, "quantization": {**NESTED, "use_double_quant": False}},
        "_amp": {"lora": dora, **amp}, "_low": {"lora": {**plain, "adapter_dtype": "bf16"}, **amp, "checkpointing": "non_reentrant"},
        "_prepared": {"lora": dora, "quantization": PREPARED, **amp, "checkpointing": "reentrant"},
        "_trl": {"loop": "sft_trainer", **amp, "lora": {**dora, "adapter_dtype": "bf16"}, "load": "device_map", "checkpointing": "non_reentrant"},
    }


def quantized():
    """name: options"""
    qlora, amp = {"quantization": NESTED, "lora": LORA}, {"autocast": "bf16"}
    prepared = {"quantization": PREPARED, "lora": LORA}
    llava = vision()["llava_lora"]
    cases = {
        "": {}, "_defaults": {"quantization": {}}, "_plain": {"lora": {**LORA, "dropout": 0}}, "_names": {"lora": {**LORA, "target_modules": ["q_proj", "v_proj"]}},
        "_single": {"quantization": {**NESTED, "use_double_quant": False}}, "_fp4": {"quantization": {**NESTED, "quant_type": "fp4"}},
        "_fp16": {"dtype": "fp16", "quantization": {**NESTED, "compute_dtype": "fp16"}}, "_fp32": {"dtype": "fp32"},
        "_storage": {"quantization": {**NESTED, "quant_storage": "bf16"}}, "_storage_fp32": {"quantization": {**NESTED, "quant_storage": "fp32"}},
        "_skip": {"quantization": {**NESTED, "skip_modules": ["o_proj", "model.layers.1"]}}, "_head": {"quantization": {**NESTED, "skip_modules": ["o_proj"]}},
        "_amp": amp, "_amp_fp32": {"quantization": {**NESTED, "compute_dtype": "fp32"}, **amp}, "_low": {"lora": {**LORA, "adapter_dtype": "bf16"}, **amp},
        "_low_storage": {"lora": {**LORA, "adapter_dtype": "bf16"}, "quantization": {**NESTED, "quant_storage": "bf16"}},
        "_scaler": {**HALF, "quantization": {**NESTED, "compute_dtype": "fp16"}, "max_grad_norm": 1.0},
        "_checkpoint": {"checkpointing": "non_reentrant"}, "_reentrant": {"checkpointing": "reentrant"}, "_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0},
        "_amp_checkpoint": {**amp, "checkpointing": "non_reentrant"}, "_trainer": {"loop": "trainer", **amp, "checkpointing": "non_reentrant", "max_grad_norm": 1.0},
        "_trl": {"loop": "trainer", **amp, "lora": {**LORA, "adapter_dtype": "bf16"}, "checkpointing": "non_reentrant"},
        "_prepared": prepared, "_prepared_amp": {**prepared, **amp}, "_prepared_checkpoint": {**prepared, **amp, "checkpointing": "reentrant"},
        "_prepared_low": {**prepared, **amp, "lora": {**LORA, "adapter_dtype": "bf16"}, "checkpointing": "non_reentrant"},
        "_prepared_storage": {"quantization": {**PREPARED, "quant_storage": "bf16"}},
        "_tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "_tied_prepared": {**prepared, "model": {**MODEL, "tie_word_embeddings": True}},
        "_few_rows": {"model": WIDE, "batch": 1, "seq": 24}, "_some_rows": {"model": WIDE, "batch": 1, "seq": 6}, "_row": {"model": WIDE, "batch": 1, "seq": 3},
        "_large": {"model": WIDE, "batch": 1, "seq": 600}, "_large_prepared": {**prepared, **amp, "model": WIDE, "batch": 1, "seq": 600},
        "_gpt2": {"model": classifiers()["classifier_gpt2"]["model"]}, "_gpt2_prepared": {**prepared, **amp, "model": classifiers()["classifier_gpt2"]["model"]},
        "_classifier": {"head": "sequence_classification", "model": {**MODEL, "pad_token_id": 0}},
        "_llava": llava, "_llava_everywhere": {**llava, "lora": LORA}, "_llava_prepared": {**llava, **prepared, **amp, "checkpointing": "non_reentrant"},
        "_ddp": {"gpus": 2, "parallel": "ddp"}, "_ddp_prepared": {**prepared, **amp, "gpus": 2, "parallel": "ddp"},
    }
    return {
        **{"qlora" + name: {**qlora, **options} for name, options in cases.items()},
        **{"qdora" + name: {**qlora, **options} for name, options in with_magnitudes().items()},
    }


def in_8bit():
    """name: options"""
    eight, amp = {"quantization": {"load_in_8bit": True}, "lora": LORA}, {"autocast": "bf16"}
    prepared = {"quantization": {"load_in_8bit": True, "prepare": True}, "lora": LORA}
    llava, gpt2 = vision()["llava_lora"], classifiers()["classifier_gpt2"]["model"]
    cases = {
        "": {}, "_plain": {"lora": {**LORA, "dropout": 0}}, "_names": {"lora": {**LORA, "target_modules": ["q_proj", "v_proj"]}},
        "_no_threshold": {"quantization": {"load_in_8bit": True, "threshold": 0.0}}, "_fp16": {"dtype": "fp16"}, "_fp32": {"dtype": "fp32"},
        "_skip": {"quantization": {"load_in_8bit": True, "skip_modules": ["o_proj", "model.layers.1"]}}, "_amp": amp, "_amp_fp16": {"dtype": "fp16", "autocast": "fp16"},
        "_low": {"lora": {**LORA, "adapter_dtype": "bf16"}, **amp}, "_scaler": {**HALF, "max_grad_norm": 1.0},
        "_checkpoint": {"checkpointing": "non_reentrant"}, "_reentrant": {"checkpointing": "reentrant"}, "_accumulate": {"grad_accumulation": 2, "max_grad_norm": 1.0},
        "_trainer": {"loop": "trainer", **amp, "checkpointing": "non_reentrant", "max_grad_norm": 1.0},
        "_trl": {"loop": "trainer", **amp, "lora": {**LORA, "adapter_dtype": "bf16"}, "checkpointing": "non_reentrant"},
        "_prepared": prepared, "_prepared_amp": {**prepared, **amp}, "_prepared_checkpoint": {**prepared, **amp, "checkpointing": "reentrant"},
        "_prepared_low": {**prepared, **amp, "lora": {**LORA, "adapter_dtype": "bf16"}, "checkpointing": "non_reentrant"},
        "_tied": {"model": {**MODEL, "tie_word_embeddings": True}}, "_row": {"model": WIDE, "batch": 1, "seq": 1}, "_large": {"model": WIDE, "batch": 1, "seq": 600},
        "_large_prepared": {**prepared, **amp, "model": WIDE, "batch": 1, "seq": 600}, "_long": {"batch": 4, "seq": 1024}, "_odd": {"model": {**MODEL, "intermediate_size": 122}},
        "_gpt2": {"model": gpt2}, "_gpt2_prepared": {**prepared, **amp, "model": gpt2}, "_gpt2_fp16": {"dtype": "fp16", "model": gpt2},
        "_classifier": {"head": "sequence_classification", "model": {**MODEL, "pad_token_id": 0}},
        "_llava": llava, "_llava_everywhere": {**llava, "lora": LORA}, "_llava_prepared": {**llava, **prepared, **amp, "checkpointing": "non_reentrant"},
        "_ddp": {"gpus": 2, "parallel": "ddp"}, "_ddp_prepared": {**prepared, **amp, "gpus": 2, "parallel": "ddp"},
    }
    return {"int8" + name: {**eight, **options} for name, options in cases.items()} | without_adapters()


def without_adapters():
    """What trains beside frozen weights that are quantized: norms, embeddings, a projector."""
    llava = {name: value for name, value in vision()["llava_lora"].items() if name != "lora"}
    eight = {"quantization": {"load_in_8bit": True}}
    cases = {"int8_frozen_norms": {**eight, "train_only": ["norm"]}, "int8_frozen_head": {**eight, "train_only": ["lm_head"]},
             "int8_frozen_amp": {**eight, "train_only": ["norm"], "autocast": "bf16", "checkpointing": "non_reentrant"},
             "int8_frozen_projector": {**llava, "quantization": {"load_in_8bit": True, "skip_modules": ["model.multi_modal_projector", "lm_head"]}, "train_only": ["multi_modal_projector"]},
             "qlora_frozen_norms": {"quantization": NESTED, "train_only": ["norm"]}}
    return cases
