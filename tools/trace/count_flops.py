#!/usr/bin/env python3
"""Counts what torch itself says that small trainings compute: the numbers of tests/unit/estimate/work_test.cpp.

usage: tidemark run --gpu h100-80gb -- python count_flops.py      (in an environment with torch, transformers and peft)

torch.utils.flop_counter counts a product of matrices as two operations for each term, and attention as the products that
it is made of, over all pairs of a query and a key.
"""

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256}
LLAMA = transformers.LlamaConfig(**SIZES, intermediate_size=176, num_key_value_heads=4, max_position_embeddings=64)
VIT = transformers.ViTConfig(**{k: v for k, v in SIZES.items() if k != "vocab_size"}, intermediate_size=176, image_size=32, patch_size=8, num_labels=10)


def llama(attention="sdpa"):
    return transformers.AutoModelForCausalLM.from_config(LLAMA, attn_implementation=attention).train()


def with_lora(model):
    import peft

    return peft.get_peft_model(model, peft.LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))


def checkpointed(model):
    model.gradient_checkpointing_enable({"use_reentrant": False})
    return model


def frozen(model):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "layers.1" in name
    return model


def text():
    ids = torch.ones(2, 32, dtype=torch.int64)
    return {"input_ids": ids, "labels": ids}


def image():
    return {"pixel_values": torch.zeros(2, 3, 32, 32, dtype=torch.bfloat16), "labels": torch.zeros(2, dtype=torch.int64)}


CASES = {
    "llama": (lambda: llama(), text),
    "llama_eager": (lambda: llama("eager"), text),
    "llama_checkpointed": (lambda: checkpointed(llama()), text),
    "llama_frozen": (lambda: frozen(llama()), text),
    "llama_lora": (lambda: with_lora(llama()), text),
    "vit": (lambda: transformers.AutoModelForImageClassification.from_config(VIT), image),
}


def main():
    for name, (make, batch) in CASES.items():
        model = make().cuda().bfloat16()
        with FlopCounterMode(display=False) as counter:
            model(**{name: x.cuda() for name, x in batch().items()}).loss.backward()
        of = {str(op).removeprefix("aten."): flops for op, flops in counter.get_flop_counts()["Global"].items()}
        attention = {op: of.pop(op) for op in list(of) if "attention" in op}
        print(name, "products", sum(of.values()), "attention", sum(v for k, v in attention.items() if "backward" not in k), "its backward", sum(v for k, v in attention.items() if "backward" in k))


main()
