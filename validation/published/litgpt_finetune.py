"""The iteration that decides LitGPT's resource tables: the first one, which its scripts give the longest sample of Alpaca.

    python litgpt_finetune.py METHOD MODEL MICRO_BATCH LONGEST [--quantize bnb.nf4|bnb.nf4-dq]

METHOD is lora, adapter or adapter_v2.  What finetune/METHOD.py of Lightning-AI/lit-gpt does at commit 8641822, in our words: Fabric in bf16-true, the model made on
the card, adapters' ranks and targets as its constants have them, logits and loss in chunks of 128 tokens, gradients accumulated (so that no optimizer state
exists yet when the longest sample is seen).  Models come from LitGPT's first released package, 0.2.0.  What differs: weights are left as they come, tokens are made up.
"""

import argparse
import importlib
import os
import warnings

import lightning as L
import torch
from lightning.fabric.plugins import BitsandbytesPrecision

# bitsandbytes 0.41 has libraries for CUDA up to 12.2 and looks for one of PyTorch's own version; on a virtual GPU their kernels do nothing.
os.environ.setdefault("BNB_CUDA_VERSION", "122")

LORA = {"r": 8, "alpha": 16, "dropout": 0.05, "to_query": True, "to_value": True}


def made(method, name):
    module = importlib.import_module({"lora": "litgpt.lora", "adapter": "litgpt.adapter", "adapter_v2": "litgpt.adapter_v2"}[method])
    if method == "lora":
        fields = module.Config.__dataclass_fields__
        options = {key if key in fields else f"lora_{key}": value for key, value in LORA.items()}
        options = {key.replace("lora_to_", "lora_"): value for key, value in options.items()}
        return module, module.Config.from_name(name, **options)
    return module, module.Config.from_name(name)


def freeze(method, module, model):
    mark = {"lora": "mark_only_lora_as_trainable", "adapter": "mark_only_adapter_as_trainable", "adapter_v2": "mark_only_adapter_v2_as_trainable"}[method]
    getattr(module, mark)(model)


def quantized(model):
    """Loading a checkpoint quantizes: every weight comes from the host, once."""
    for part in model.modules():
        if hasattr(part, "quantize_"):
            part.quantize_(torch.empty(part.out_features, part.in_features, dtype=torch.bfloat16))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["lora", "adapter", "adapter_v2"])
    parser.add_argument("model")
    parser.add_argument("micro_batch", type=int)
    parser.add_argument("longest", type=int)
    parser.add_argument("--quantize", choices=["bnb.nf4", "bnb.nf4-dq"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    plugins = BitsandbytesPrecision(arguments.quantize[4:], torch.bfloat16) if arguments.quantize else None
    fabric = L.Fabric(devices=1, precision=None if plugins else "bf16-true", plugins=plugins)
    module, config = made(arguments.method, arguments.model)
    with fabric.init_module(empty_init=False):
        model = module.GPT(config)
    freeze(arguments.method, module, model)
    print("trainable parameters", sum(p.numel() for p in model.parameters() if p.requires_grad))
    if arguments.quantize:
        quantized(model)
    model = fabric.setup_module(model)
    optimizer = fabric.setup_optimizers(torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4, weight_decay=0.01))
    model.max_seq_length = arguments.longest
    one_iteration(fabric, model, arguments, config)
    del optimizer


def one_iteration(fabric, model, arguments, config):
    from litgpt.utils import chunked_cross_entropy

    accumulated = 128 // arguments.micro_batch
    print("before training", torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
    input_ids = torch.randint(0, config.vocab_size, (arguments.micro_batch, arguments.longest)).pin_memory()
    input_ids, targets = fabric.to_device((input_ids, input_ids.clone().pin_memory()))
    with fabric.no_backward_sync(model, enabled=True):
        logits = model(input_ids, lm_head_chunk_size=128)
        logits[-1] = logits[-1][..., :-1, :]
        loss = chunked_cross_entropy(logits, targets[..., 1:])
        fabric.backward(loss / accumulated)
    print("peak", torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
