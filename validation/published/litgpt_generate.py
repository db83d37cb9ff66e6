"""LitGPT's resource table for inference: 50 new tokens after a short prompt, with a key-value cache of just that length.

    python litgpt_generate.py MODEL [--quantize bnb.nf4|bnb.nf4-dq]

What generate/base.py of Lightning-AI/lit-gpt does at commit 8641822, in our words; models come from LitGPT's package 0.2.0.  What differs: weights are left as they
come, and the default prompt "Hello, my name is" is taken as six tokens, where one more token is half a megabyte at most.
"""

import argparse
import warnings

import lightning as L
import torch
from lightning.fabric.plugins import BitsandbytesPrecision
from litgpt_finetune import quantized

PROMPT_TOKENS, NEW_TOKENS = 6, 50


def main():
    from litgpt.model import GPT, Config

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--quantize", choices=["bnb.nf4", "bnb.nf4-dq"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    plugins = BitsandbytesPrecision(arguments.quantize[4:], torch.bfloat16) if arguments.quantize else None
    fabric = L.Fabric(devices=1, precision=None if plugins else "bf16-true", plugins=plugins)
    with fabric.init_module(empty_init=True):
        model = GPT(Config.from_name(arguments.model))
    model.eval()
    model = fabric.setup_module(model)
    if arguments.quantize:
        quantized(model)
    with fabric.init_tensor():
        model.max_seq_length = PROMPT_TOKENS + NEW_TOKENS
        model.set_kv_cache(batch_size=1)
    generate(model, torch.randint(0, 1000, (PROMPT_TOKENS,), device=fabric.device))
    print("peak", torch.cuda.max_memory_allocated())


@torch.inference_mode()
def generate(model, tokens):
    position = torch.arange(0, tokens.size(0), device=tokens.device)
    token, result = tokens, tokens
    for _ in range(NEW_TOKENS):
        logits = model(token.view(1, -1), position)[0, -1] / 0.8
        chosen, _index = torch.topk(logits, min(200, logits.size(-1)))
        logits = torch.where(logits < chosen[[-1]], -float("Inf"), logits)
        probabilities = torch.nn.functional.softmax(logits, dim=-1)
        token = torch.multinomial(probabilities, num_samples=1).clamp(0, 999)
        result = torch.cat((result, token))
        position = position[-1:].add(1)


if __name__ == "__main__":
    main()
