"""transformers' guide "Efficient Training on a Single GPU" of 2022: bert-large-uncased on exact lengths, by the Trainer.

    python hf_bert_large.py weights|vanilla|adam8bit|everything

What docs/source/en/perf_train_gpu_one.mdx of huggingface/transformers runs, one experiment in a process.  In 2022 the Trainer's default optimizer was the AdamW of
transformers (`adamw_hf`) and BERT's attention was eager; both are asked for by name.  What differs: weights are left as they come, and three optimizer steps stand
for an epoch, since all batches have one shape.
"""

import argparse
import functools

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from transformers.trainer_pt_utils import get_parameter_names

LENGTH, SAMPLES, STEPS = 512, 512, 3
CONFIG = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 30522}  # bert-large-uncased
EVERYTHING = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 4, "gradient_checkpointing": True, "fp16": True}
EXPERIMENTS = {
    "vanilla": {"per_device_train_batch_size": 4, "optim": "adamw_hf"},
    "adam8bit": {"per_device_train_batch_size": 4},
    "everything": {**EVERYTHING, "optim": "adafactor"},
}


class RandomTokens(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return {"input_ids": torch.randint(100, 30000, (LENGTH,)), "labels": torch.tensor(0)}


def eight_bit_adam(model):
    """The guide's own grouping: biases and layer norms do not decay."""
    import bitsandbytes

    decays = [name for name in get_parameter_names(model, [torch.nn.LayerNorm]) if "bias" not in name]
    groups = [{"params": [p for n, p in model.named_parameters() if (n in decays) == wanted], "weight_decay": 0.0} for wanted in (True, False)]
    return bitsandbytes.optim.Adam8bit(groups, betas=(0.9, 0.999), eps=1e-8, lr=5e-5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=["weights", *EXPERIMENTS])
    name = parser.parse_args().experiment
    tiny = torch.ones((1, 1)).to("cuda")  # the guide's first measurement
    del tiny
    model = BertForSequenceClassification(BertConfig(**CONFIG, attn_implementation="eager")).to("cuda")
    if name == "weights":
        return
    model.zero_grad = functools.partial(model.zero_grad, set_to_none=False)  # PyTorch's default before 2.0: gradients stay
    arguments = TrainingArguments(output_dir="/tmp/tidemark_hf_bert_large", max_steps=STEPS, save_strategy="no", report_to="none", log_level="error", **EXPERIMENTS[name])
    optimizers = (eight_bit_adam(model), None) if name == "adam8bit" else (None, None)
    Trainer(model=model, args=arguments, train_dataset=RandomTokens(), optimizers=optimizers).train()


if __name__ == "__main__":
    main()
