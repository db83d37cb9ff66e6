"""Models whose linear modules bitsandbytes has quantized, as a spec with `quantization` stands for them."""

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "uint8": "uint8"}


def quantize(model, spec):
    """transformers' replace_with_bnb_linear (transformers: integrations/bitsandbytes.py) with the weights that the host has: they are packed on their way to the card."""
    import bitsandbytes
    import torch
    from transformers.pytorch_utils import Conv1D
    from transformers.quantizers.base import get_keys_to_not_convert
    from transformers.quantizers.quantizers_utils import should_convert_module

    asked = spec["quantization"]
    skipped = asked.get("skip_modules") or get_keys_to_not_convert(model)
    in_8bit = asked.get("load_in_8bit", False)
    how = {"compress_statistics": asked.get("use_double_quant", False), "quant_type": asked.get("quant_type", "fp4"), "quant_storage": getattr(torch, DTYPES[asked.get("quant_storage", "uint8")])}
    computes = getattr(torch, DTYPES[asked.get("compute_dtype", "fp32")])
    for name, module in list(model.named_modules()):
        if not should_convert_module(name, skipped) or not (isinstance(module, Conv1D) or type(module) is torch.nn.Linear):
            continue
        weight = module.weight.data.T if isinstance(module, Conv1D) else module.weight.data
        if in_8bit:
            linear = bitsandbytes.nn.Linear8bitLt(weight.shape[1], weight.shape[0], module.bias is not None, has_fp16_weights=False, threshold=asked.get("threshold", 6.0))
            linear.weight = bitsandbytes.nn.Int8Params(weight, requires_grad=False)
        else:
            linear = bitsandbytes.nn.Linear4bit(weight.shape[1], weight.shape[0], module.bias is not None, computes, **how)
            linear.weight = bitsandbytes.nn.Params4bit(weight, requires_grad=False, module=linear, **how)
        linear.bias = module.bias
        model.set_submodule(name, linear)
    setattr(model, "is_loaded_in_8bit" if in_8bit else "is_loaded_in_4bit", True)


def prepare(model):
    """Checkpointing is turned on by itself."""
    import peft

    peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)


def quantized_with_adapters(model, config, adapter_dtype):
    """Another type than PEFT's is the trainer's doing (trl/trainer/sft_trainer.py, 1.16.0)."""
    import peft
    import torch

    model = peft.get_peft_model(model, config)
    if adapter_dtype != "auto":
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and "lora_magnitude_vector" not in name:
                parameter.data = parameter.data.to(getattr(torch, DTYPES[adapter_dtype]))
    return model
