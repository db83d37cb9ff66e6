"""The loop of transformers' Trainer (5.17.0) over accelerate (1.15.0), as a spec with `loop: trainer` stands for it."""

import os
import tempfile

import trl_loops

OPTIMIZERS = {
    ("adamw_8bit", "auto"): "adamw_8bit",
    ("paged_adamw_32bit", "auto"): "paged_adamw_32bit",
    ("transformers_adafactor", "auto"): "adafactor",
    ("adamw", "fused"): "adamw_torch_fused",
    ("adamw", "auto"): "adamw_torch",
    ("sgd", "auto"): "sgd",
    ("rmsprop", "auto"): "rmsprop",
    ("adagrad", "auto"): "adagrad",
}


def trained_by_trainer(spec, model, rows, pause, again):
    """`rows` is every batch, on the host.  What it does behind its last step is not part of it.  A model that is made in parts is a
    function that makes it; `again` makes the model once more."""
    import transformers
    from zero_training import is_made_in_parts

    class Steps(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, **kwargs):
            if spec.get("parallel") == "ddp":
                pause(next(p for p in model.parameters() if p.requires_grad))

        def on_step_end(self, args, state, control, **kwargs):
            if state.global_step == args.max_steps:
                os._exit(0)  # the report is written (inside/leaving.py)

    with tempfile.TemporaryDirectory() as folder:
        if is_made_in_parts(spec):  # under the arguments, which know DeepSpeed's configuration
            settings = arguments_of(spec, folder, None)
            model = model()
        else:
            settings = arguments_of(spec, folder, model)
    how = {"model": model, "args": settings, "train_dataset": [{}] * samples_of(spec), "data_collator": lambda _: dict(rows), "callbacks": [Steps()]}
    if module := trl_loops.module_of(spec):
        trainer = module.trainer(spec, how, tokenizer(), again)
    else:
        trainer = sft_trainer(how) if spec["loop"] == "sft_trainer" else transformers.Trainer(**how)
    trainer.train()


def samples_of(spec):
    """More than the training takes."""
    return spec["batch"] * (spec.get("steps", 3) + 1) * spec.get("grad_accumulation", 1) * spec.get("gpus", 1)


def sft_trainer(how):
    """TRL's (1.16.0): samples are taken as they are."""
    import datasets
    import trl

    samples = datasets.Dataset.from_list([{"input_ids": [0], "labels": [0]}] * len(how["train_dataset"]))
    return trl.SFTTrainer(**{**how, "train_dataset": samples}, processing_class=tokenizer())


def tokenizer():
    """TRL's trainers ask for one."""
    import tokenizers
    import transformers

    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<pad>": 0, "<eos>": 1}, unk_token="<pad>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")


def arguments_of(spec, folder, model):
    import transformers

    autocast = mixed_precision(spec)
    clip = {"max_grad_norm": spec.get("zero", {}).get("gradient_clipping", 1) if spec.get("parallel", "none").startswith("zero") else spec.get("max_grad_norm", 0)}
    kind = transformers.TrainingArguments
    if spec["loop"] == "sft_trainer":  # what it has other defaults for
        import trl

        kind, clip = trl.SFTConfig, {**clip, "gradient_checkpointing": False, "dataset_kwargs": {"skip_prepare_dataset": True}}
    if module := trl_loops.module_of(spec):
        kind, more = module.arguments(spec)
        clip.update(more)
    return kind(
        folder,
        per_device_train_batch_size=spec["batch"],
        gradient_accumulation_steps=spec.get("grad_accumulation", 1),
        max_steps=spec.get("steps", 3),
        **clip,
        optim=OPTIMIZERS[spec.get("optimizer", "adamw"), spec.get("optimizer_impl", "auto")],
        weight_decay=spec.get("weight_decay", 0.0),
        ddp_find_unused_parameters=False if spec.get("parallel") == "ddp" else None,
        bf16=autocast == "bf16",
        fp16=autocast == "fp16",
        remove_unused_columns=False,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **shared(spec, model),
    )


def mixed_precision(spec):
    """Under FSDP 2 it is a policy and no autocast; DeepSpeed's weights are bf16."""
    if spec.get("parallel", "none").startswith("zero"):
        return "bf16"
    return spec.get("fsdp2", {}).get("param_dtype", spec.get("autocast", "none"))


def shared(spec, model):
    """How GPUs share the training: fsdp_config and DeepSpeed's JSON, as `tidemark plan --write trainer` has them."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    parallel = spec.get("parallel", "none")
    if parallel == "fsdp2":
        asked = spec.get("fsdp2", {})
        if asked.get("offload_policy") == "cpu":  # as `accelerate launch` sets them: without them there is no backend that adds up norms on the host (state.py)
            os.environ.update(ACCELERATE_USE_FSDP="true", FSDP_OFFLOAD_PARAMS="true")
        # accelerate looks for every class that the model's parts do not split, also of parts that it does not have: its layers are said instead.
        classes = asked.get("transformer_layer_cls_to_wrap") or (sorted({type(module).__name__ for module in model.modules() if isinstance(module, GradientCheckpointingLayer)}) if spec.get("images") else [])
        layers = {"transformer_layer_cls_to_wrap": classes} if classes else {}
        return {
            "fsdp": True,
            "fsdp_config": {**layers, "version": 2, "reshard_after_forward": asked.get("reshard_after_forward", "true") == "true", "cpu_offload": asked.get("offload_policy") == "cpu", "auto_wrap_policy": "TRANSFORMER_BASED_WRAP"},
        }
    if not parallel.startswith("zero"):
        return {}
    zero = dict(spec.get("zero", {}))
    for name in ("gradient_clipping", "init"):
        zero.pop(name, None)
    for part in ("offload_optimizer", "offload_param"):
        if part in zero:
            zero[part] = {"device": zero[part], "pin_memory": True}
    auto = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping")
    return {"deepspeed": {**dict.fromkeys(auto, "auto"), "bf16": {"enabled": "auto"}, "zero_force_ds_cpu_optimizer": False, "zero_optimization": {"stage": int(parallel[-1]), **zero}}}
