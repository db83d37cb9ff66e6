"""TRL's trainers of preferences (1.16.0), as a spec with `loop: dpo_trainer` stands for them.  They make adapters, checkpoints and the reference themselves."""

LOOPS = ("dpo_trainer", "kto_trainer", "reward_trainer")


def rows(spec):
    """The batch of a collator, of samples of one length; pairs as the chosen ones, then the rejected.  Every token belongs to a completion."""
    import torch

    tokens = torch.full(((1 if spec["loop"] == "kto_trainer" else 2) * spec["batch"], spec["seq"]), 5)
    made = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "completion_mask": torch.ones_like(tokens)}
    if spec["loop"] == "reward_trainer":
        del made["completion_mask"]
    if spec["loop"] == "kto_trainer":
        made |= {f"KL_{name}": value.clone() for name, value in made.items()}
        made["label"] = torch.arange(spec["batch"]) < (spec["batch"] + 1) // 2
    return made


def arguments(spec):
    """The class, and what differs from the Trainer's own."""
    import trl

    kind = spec.get("checkpointing", "none")
    configs = {"dpo_trainer": trl.DPOConfig, "kto_trainer": trl.KTOConfig, "reward_trainer": trl.RewardConfig}
    return configs[spec["loop"]], {"gradient_checkpointing": kind != "none", "gradient_checkpointing_kwargs": {"use_reentrant": kind == "reentrant"}}


def trainer(spec, how, tokenizer, again):
    """`again` makes the model once more: the reference, where no adapters can be left out."""
    import datasets
    import trl
    from adapters import lora_config

    kind, sample = {
        "dpo_trainer": (trl.DPOTrainer, {"prompt": "a", "chosen": "b", "rejected": "c"}),
        "kto_trainer": (trl.KTOTrainer, {"prompt": "a", "completion": "b", "label": True}),
        "reward_trainer": (trl.RewardTrainer, {"chosen": "b", "rejected": "c"}),
    }[spec["loop"]]
    more = {"peft_config": lora_config(spec["lora"])} if "lora" in spec else {}
    if spec["loop"] != "reward_trainer" and "lora" not in spec:
        more["ref_model"] = again().eval()
    samples = datasets.Dataset.from_list([sample] * len(how["train_dataset"]))
    return kind(**{**how, "train_dataset": samples}, **more, processing_class=tokenizer)
