"""transformers' Trainer by options of the command line, as scripts that people post begin it: of a pretrained model, on one sample."""

import dataclasses

import torch
import transformers


@dataclasses.dataclass
class Chosen:
    model_name_or_path: str
    model_max_length: int = 2048  # what a prediction takes where a file does not say
    block_size: int = 0


def main():
    chosen, arguments = transformers.HfArgumentParser((Chosen, transformers.TrainingArguments)).parse_args_into_dataclasses(return_remaining_strings=True)[:2]
    model = transformers.AutoModelForCausalLM.from_pretrained(chosen.model_name_or_path)
    tokens = torch.full((chosen.block_size or chosen.model_max_length,), 5)
    samples = [{"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}] * 10_000
    transformers.Trainer(model=model, args=arguments, train_dataset=samples).train()


if __name__ == "__main__":
    main()
