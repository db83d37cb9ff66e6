"""TRL's trainers of preferences (1.16.0), as a spec with `loop: dpo_trainer` stands for them.  They make adapters, checkpoints and the reference themselves."""

LOOPS = ("dpo_trainer",)


def packages(spec):
    """Whose version a recording names beside torch's and transformers'."""
    return ("trl",) if spec.get("loop") in ("sft_trainer", *LOOPS) else ()


def rows(spec):
    """The batch of a collator, of samples of one length: the chosen ones, then the rejected.  Every token belongs to a completion."""
    import torch

    tokens = torch.full((2 * spec["batch"], spec["seq"]), 5)
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "completion_mask": torch.ones_like(tokens)}


def arguments(spec):
    """The class, and what differs from the Trainer's own."""
    import trl

    kind = spec.get("checkpointing", "none")
    return trl.DPOConfig, {"gradient_checkpointing": kind != "none", "gradient_checkpointing_kwargs": {"use_reentrant": kind == "reentrant"}}


def trainer(spec, how, tokenizer, again):
    """`again` makes the model once more: the reference, where no adapters can be left out."""
    import datasets
    import trl
    from adapters import lora_config

    samples = datasets.Dataset.from_list([{"prompt": "a", "chosen": "b", "rejected": "c"}] * len(how["train_dataset"]))
    more = {"peft_config": lora_config(spec["lora"])} if "lora" in spec else {"ref_model": again().eval()}
    return trl.DPOTrainer(**{**how, "train_dataset": samples}, **more, processing_class=tokenizer)
