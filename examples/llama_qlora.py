"""Llama 3 8B by QLoRA: the base model in 4-bit NF4 (bitsandbytes), LoRA on every projection (peft), paged 8-bit AdamW.

tidemark run --gpu rtx-4090 -- python examples/llama_qlora.py
"""

import argparse

import bitsandbytes as bnb
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import LlamaConfig, LlamaForCausalLM

CONFIG = dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256)
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
OPTIMIZERS = {"paged_adamw_8bit": bnb.optim.PagedAdamW8bit, "adamw_8bit": bnb.optim.AdamW8bit, "adamw": torch.optim.AdamW}


def quantise(module):
    """Every linear layer but the head becomes a 4-bit one; its weight is packed when it moves to the GPU."""
    for name, child in module.named_children():
        if isinstance(child, torch.nn.Linear) and name != "lm_head":
            linear = bnb.nn.Linear4bit(child.in_features, child.out_features, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4", compress_statistics=True)
            linear.weight = bnb.nn.Params4bit(child.weight.data, requires_grad=False, quant_type="nf4", compress_statistics=True, module=linear)
            setattr(module, name, linear)
        else:
            quantise(child)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=CONFIG["num_hidden_layers"])
    parser.add_argument("--hidden", type=int, default=CONFIG["hidden_size"])
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--optimizer", default="paged_adamw_8bit", choices=OPTIMIZERS)
    arguments = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(LlamaConfig(**{**CONFIG, "num_hidden_layers": arguments.layers, "hidden_size": arguments.hidden, "intermediate_size": 7 * arguments.hidden // 2}))
    torch.set_default_dtype(torch.float32)
    quantise(model)
    model.is_loaded_in_4bit = True
    model.cuda()
    model = prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
    model = get_peft_model(model, LoraConfig(r=arguments.rank, lora_alpha=32, target_modules=PROJECTIONS, task_type="CAUSAL_LM")).train()
    optimizer = OPTIMIZERS[arguments.optimizer]([p for p in model.parameters() if p.requires_grad], lr=2e-4)

    for step in range(arguments.steps):
        input_ids = torch.randint(0, CONFIG["vocab_size"], (arguments.batch, arguments.sequence)).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(input_ids=input_ids, labels=input_ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
