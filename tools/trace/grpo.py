"""TRL's GRPOTrainer (1.16.0), as a spec with `loop: grpo_trainer` stands for it.  Completions come from elsewhere, each of full length."""

TOKEN, LOG_PROB = 5, -1.0


def rows(spec):
    """The trainer makes its batches itself."""
    return {}


def arguments(spec):
    """The class, and what differs from the Trainer's own."""
    import trl

    kind = spec.get("checkpointing", "none")
    options = {"gradient_checkpointing": kind != "none", "gradient_checkpointing_kwargs": {"use_reentrant": kind == "reentrant"}, "vllm_mode": "server"}
    return trl.GRPOConfig, {**options, **spec["grpo"]}


class Server:
    """A vLLM server elsewhere, and its client."""

    def __init__(self, **options):
        self.vllm_client = self

    def get_server_info(self):
        return {"model_config": {"logprobs_mode": "processed_logprobs"}}


def trainer(spec, how, tokenizer, again):
    """`again` makes the model once more: the reference, where no adapters can be left out."""
    import datasets
    import trl
    import trl.trainer.grpo_trainer as module
    from adapters import lora_config

    module.VLLMGeneration = Server
    module.create_model_from_path = lambda *_, **__: again().eval()
    more = {"peft_config": lora_config(spec["lora"])} if "lora" in spec else {}
    del how["data_collator"]
    prompts = datasets.Dataset.from_list([{"prompt": "a"}] * len(how["train_dataset"]))
    made = trl.GRPOTrainer(**{**how, "train_dataset": prompts}, **more, processing_class=tokenizer, reward_funcs=rewards)
    length = spec["grpo"]["max_completion_length"]
    made._tokenize_prompts = lambda samples: ([[TOKEN] * (spec["seq"] - length)] * len(samples), None, {})
    made._generate_single_turn = lambda prompts, *_: ([[TOKEN] * length] * len(prompts), [[LOG_PROB] * length] * len(prompts) if made.use_vllm else None)
    return made


def rewards(completions, **_):
    return [float(number % 2) for number, _ in enumerate(completions)]
