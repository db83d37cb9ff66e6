"""transformers' Trainer by a file of its arguments (argument 1, as `tidemark plan --write trainer=…` writes it), on random tokens."""

import dataclasses
import sys

import torch
import transformers


@dataclasses.dataclass
class Chosen:
    model_name_or_path: str
    torch_dtype: str = "float32"
    attn_implementation: str = "sdpa"
    block_size: int = 0


class LastsAsLongAsReal(transformers.TrainerCallback):
    """DDP's first buckets live until ProcessGroupNCCL's watchdog looks, every 100 ms: operations that allocate nothing pass the virtual GPU's time."""

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        if torch.distributed.is_initialized() and not args.fsdp:
            for _ in range(12_000):
                next(model.parameters()).detach().zero_()


def main():
    chosen, arguments = transformers.HfArgumentParser((Chosen, transformers.TrainingArguments)).parse_json_file(sys.argv[1])
    config = transformers.AutoConfig.from_pretrained(chosen.model_name_or_path)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=getattr(torch, chosen.torch_dtype), attn_implementation=chosen.attn_implementation)
    tokens = torch.randint(0, config.vocab_size, (chosen.block_size,))
    samples = [{"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}] * 10_000
    transformers.Trainer(model=model, args=arguments, train_dataset=samples, callbacks=[LastsAsLongAsReal()]).train()


if __name__ == "__main__":
    main()
