"""PEFT's adapters of a spec's `lora`."""


def with_adapters(model, spec):
    if "lora" not in spec:
        return model
    import peft
    from quantization import quantized_with_adapters

    config, dtype = lora_config(spec["lora"]), spec["lora"].get("adapter_dtype", "auto")
    if "quantization" in spec:
        return quantized_with_adapters(model, config, dtype)
    return peft.get_peft_model(model, config, autocast_adapter_dtype=dtype == "auto")


def lora_config(lora):
    import peft

    options = {"r": lora.get("r", 8), "lora_alpha": lora.get("alpha", 8), "lora_dropout": lora.get("dropout", 0)}
    if lora.get("use_dora"):
        options["use_dora"] = True
    if lora.get("target_modules"):
        options["target_modules"] = lora["target_modules"]
    return peft.LoraConfig(**options)
