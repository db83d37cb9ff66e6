"""Cases for step_cases.py of checkpointing that chooses: some layers, and of a layer the results of some operators that are kept."""

from step_groups import LORA, MODEL, vision

SIX = {"model": {**MODEL, "num_hidden_layers": 6}}
SETS = {"first": ["0"], "last": ["5"], "some": ["0-1", "4"], "all": ["0-5"]}


def chosen_layers():
    """name: sets of layers, each with either checkpoint, of full training and of adapters."""
    kinds = {"checkpoint": {"checkpointing": "non_reentrant"}, "reentrant": {"checkpointing": "reentrant"}}
    trained = {"": {}, "_lora": {"lora": LORA}}
    found = {f"layers_{name}_{kind}{method}": {**SIX, "checkpoint_layers": layers, **how, **what}
             for name, layers in SETS.items() for kind, how in kinds.items() for method, what in trained.items()}
    towers = vision()["llava_lora"]
    found["layers_llava_checkpoint"] = {**towers, "checkpoint_layers": ["1-2", "4"], **kinds["checkpoint"]}
    found["layers_llava_reentrant"] = {**towers, "checkpoint_layers": ["1-2", "4"], **kinds["reentrant"]}
    found["layers_amp_accumulate"] = {**SIX, "checkpoint_layers": ["1", "3-4"], **kinds["checkpoint"], "dtype": "fp32", "autocast": "bf16", "grad_accumulation": 2}
    return found


GPT2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 3, "n_head": 4, "vocab_size": 1024}
OPT = {"model_type": "opt", "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 1024, "ffn_dim": 256, "word_embed_proj_dim": 128}
MIXTRAL = {**MODEL, "model_type": "mixtral", "num_hidden_layers": 2, "num_local_experts": 4, "num_experts_per_tok": 2}
FUSED = {"h200": "cudnn", "a100-80gb": "flash", "rtx-4090": "flash"}


def saves(*names):
    return {"checkpointing": "non_reentrant", "checkpoint_save": list(names)}


def kept_operators():
    """name: operators of each kind, in models that run them differently."""
    attention = "_scaled_dot_product_cudnn_attention"
    return {"save_" + name: options for name, options in {
        "products": saves("mm"), "attention": saves(attention), "both": saves("mm", attention), "activation": saves("silu"),
        "activation_and_products": saves("silu", "mm"), "eager": {**saves("_softmax"), "attn": "eager"}, "eager_products": {**saves("bmm", "mm"), "attn": "eager"},
        "lora": {**saves("mm"), "lora": LORA}, "lora_dropout": {**saves("native_dropout", attention), "lora": LORA},
        "layers": {**SIX, **saves("mm"), "checkpoint_layers": ["1-3", "5"]}, "every": {**SIX, **saves(attention), "checkpoint_every": 2},
        "amp": {**saves("mm", attention), "dtype": "fp32", "autocast": "bf16"}, "accumulate": {**saves("mm"), "grad_accumulation": 2, "max_grad_norm": 1.0},
        "fp32": {**saves("_scaled_dot_product_efficient_attention"), "dtype": "fp32", "model": {**MODEL, "num_key_value_heads": 4}}, "frozen": {**saves("mm"), "freeze": ["layers.1.", "embed_tokens"]},
        "fp32_products": {**saves("mm"), "dtype": "fp32"}, "steps": {**saves("mm", "silu"), "steps": 5},
        "gpt2": {**saves("addmm"), "model": GPT2}, "gpt2_dropout": {**saves("native_dropout", "native_layer_norm"), "model": GPT2},
        "gpt2_lora": {**saves("addmm", "mm"), "model": GPT2, "lora": {"r": 8, "target_modules": ["c_attn"]}},
        "opt": {**saves("relu", "addmm"), "model": OPT}, "opt_norms": {**saves("native_layer_norm", attention), "model": OPT},
        "mixtral": {**saves("_grouped_mm"), "model": MIXTRAL}, "mixtral_products": {**saves("mm", "_grouped_mm"), "model": MIXTRAL},
        "llava": {**vision()["llava_lora"], **saves("mm", attention)}, "llava_tower": {"model": vision()["llava_lora"]["model"], "images": 1, **saves("addmm", "native_layer_norm"), "checkpoint_layers": ["0-4"]},
        "some_layers": {**SIX, **saves("mm", attention), "checkpoint_save_layers": ["3-5"]}, "some_of_some": {**SIX, **saves("mm"), "checkpoint_layers": ["0-2", "4"], "checkpoint_save_layers": ["2", "4"], "lora": LORA},
        "ddp": {**saves("mm", attention), "gpus": 2, "parallel": "ddp"}}.items()}


def kept_attention():
    """(card, name, options): the kernel that each card takes."""
    return [(card, f"save_fused_on_{card.replace('-', '_')}", saves("mm", f"_scaled_dot_product_{kind}_attention")) for card, kind in FUSED.items()]
