"""Run by test_packed_bases.py: a small Llama whose weights lie as GPTQ or AWQ left them, under PEFT's LoRA; `gptq` and `awq` build it and a batch."""

import json
import sys
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file

HERE = Path.cwd()
WIDTH, INNER, WORDS, GROUP = 256, 768, 2048, 128
LINEAR = {
    "self_attn.q_proj": (WIDTH, WIDTH),
    "self_attn.k_proj": (WIDTH, WIDTH),
    "self_attn.v_proj": (WIDTH, WIDTH),
    "self_attn.o_proj": (WIDTH, WIDTH),
    "mlp.gate_proj": (WIDTH, INNER),
    "mlp.up_proj": (WIDTH, INNER),
    "mlp.down_proj": (INNER, WIDTH),
}
HOW = {
    "gptq": {"bits": 4, "group_size": GROUP, "desc_act": False, "sym": True, "quant_method": "gptq", "checkpoint_format": "gptq", "backend": "torch"},
    "awq": {"bits": 4, "group_size": GROUP, "zero_point": True, "quant_method": "awq", "version": "gemm", "backend": "torch_awq"},
}


def write(folder, method, layers=2):
    """A checkpoint of zeros: what of its values counts is which group a number is of."""
    folder.mkdir()
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "vocab_size": WORDS,
        "dtype": "bfloat16",
    }
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": HOW[method]}))
    tensors = {name: torch.zeros(*sizes, dtype=torch.bfloat16) for name, sizes in {"model.embed_tokens.weight": (WORDS, WIDTH), "lm_head.weight": (WORDS, WIDTH), "model.norm.weight": (WIDTH,)}.items()}
    for layer in range(layers):
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"model.layers.{layer}.{name}.weight"] = torch.zeros(WIDTH, dtype=torch.bfloat16)
        for name, (inputs, outputs) in LINEAR.items():
            at = f"model.layers.{layer}.{name}."
            packed = (inputs // 8, outputs) if method == "gptq" else (inputs, outputs // 8)
            tensors[at + "qweight"] = torch.zeros(*packed, dtype=torch.int32)
            tensors[at + "qzeros"] = torch.zeros(inputs // GROUP, outputs // 8, dtype=torch.int32)
            tensors[at + "scales"] = torch.zeros(inputs // GROUP, outputs, dtype=torch.float16)
            if method == "gptq":
                tensors[at + "g_idx"] = (torch.arange(inputs) // GROUP).int()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def built(method, device, batch, seq):
    model = transformers.AutoModelForCausalLM.from_pretrained(HERE / method, device_map={"": device}, dtype=torch.bfloat16)
    model = peft.get_peft_model(model, peft.LoraConfig(r=8, target_modules=[name.rpartition(".")[2] for name in LINEAR]))
    ids = torch.zeros(batch, seq, dtype=torch.long)
    return model, {"input_ids": ids, "labels": ids.clone()}


def gptq(batch, seq):
    return built("gptq", torch.get_default_device(), batch, seq)


def awq(batch, seq):
    return built("awq", torch.get_default_device(), batch, seq)


def train(method, batch, seq):
    model, given = built(method, 0, batch, seq)
    model.train()
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad])
    for _ in range(3):
        rows = {name: value.to("cuda") for name, value in given.items()}
        model(**rows).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del rows


if __name__ == "__main__":
    write(HERE / sys.argv[1], sys.argv[1])
    train(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
