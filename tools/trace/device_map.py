"""Models that from_pretrained has brought onto a card, by device_map="auto" or {"": device}, as a spec with `load: device_map` or `load: device` stands for it."""

import os
import tempfile

from quantization import DTYPES


def loads_by_device_map(spec):
    return spec.get("load") in ("device_map", "device")


def loaded_by_device_map(spec, auto, config, how):
    """Of what a model like it has saved; by one thread, so that the order of two weights is certain (core_model_loading.py)."""
    import torch

    dtype = getattr(torch, DTYPES[spec.get("dtype", "bf16")])
    os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        auto.from_config(config, dtype=dtype).save_pretrained(folder)
        return auto.from_pretrained(folder, dtype=dtype, device_map="auto" if spec["load"] == "device_map" else {"": torch.cuda.current_device()}, **packed(spec), **how)


def packed(spec):
    import torch
    import transformers

    if "quantization" not in spec:
        return {}
    asked = spec["quantization"]
    if asked.get("load_in_8bit"):
        return {"quantization_config": transformers.BitsAndBytesConfig(load_in_8bit=True)}
    computes = getattr(torch, DTYPES[asked.get("compute_dtype", "fp32")])
    return {"quantization_config": transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=asked["quant_type"], bnb_4bit_compute_dtype=computes, bnb_4bit_use_double_quant=asked.get("use_double_quant", False))}
