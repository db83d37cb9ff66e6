"""Trainings under DeepSpeed, of models that are whole before it comes and of those that zero.Init cuts while they are made."""

import os
import tempfile


def trained_by_deepspeed(spec, build, rows, optimizer_of):
    """The loop of DeepSpeed's documentation: a batch on the device lives as long as the call, the loss until the next one."""
    import deepspeed

    launched()
    if is_made_in_parts(spec):
        config = config_of(spec)  # alive as long as a model is made (transformers: integrations/deepspeed.py, HfDeepSpeedConfig)
    model = build(spec)
    deepspeed.init_distributed()
    optimizer = optimizer_of(spec, [p for p in model.parameters() if p.requires_grad])
    engine = deepspeed.initialize(model=model, optimizer=optimizer, config=config.config if is_made_in_parts(spec) else settings_of(spec))[0]
    for _ in range(spec.get("steps", 3) * spec.get("grad_accumulation", 1)):
        loss = engine(**{name: row.to("cuda") for name, row in rows.items()}).loss
        engine.backward(loss)
        engine.step()


def launched():
    """What torchrun says."""
    os.environ.update({name: os.environ.get(name, value) for name, value in {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}.items()})


def settings_of(spec):
    zero = {name: value for name, value in spec.get("zero", {}).items() if name != "init"}
    for part in ("offload_optimizer", "offload_param"):
        if part in zero:
            zero[part] = {"device": zero[part], "pin_memory": True}
    return {
        "train_micro_batch_size_per_gpu": spec["batch"],
        "gradient_accumulation_steps": spec.get("grad_accumulation", 1),
        "bf16": {"enabled": True},
        "zero_force_ds_cpu_optimizer": False,
        **({"gradient_clipping": zero.pop("gradient_clipping")} if "gradient_clipping" in zero else {}),
        "zero_optimization": {"stage": int(spec["parallel"][-1]), **zero},
    }


def is_made_in_parts(spec):
    return spec.get("zero", {}).get("init", "none") != "none"


def config_of(spec):
    from transformers.integrations import HfDeepSpeedConfig

    return HfDeepSpeedConfig(settings_of(spec))


def made_in_parts(spec, auto, config, how):
    """from_config, or from_pretrained of what a model like it has saved, under zero.Init."""
    import torch
    from transformers.integrations import deepspeed as integration

    if spec["zero"]["init"] == "from_config":
        return auto.from_config(config, dtype=torch.bfloat16, **how)
    known, integration._hf_deepspeed_config_weak_ref = integration._hf_deepspeed_config_weak_ref, None
    with tempfile.TemporaryDirectory() as folder:
        auto.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
        integration._hf_deepspeed_config_weak_ref = known
        return auto.from_pretrained(folder, dtype=torch.bfloat16, **how)
