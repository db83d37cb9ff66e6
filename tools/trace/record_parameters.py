"""Record the parameters and buffers of transformers' models, for tests/golden/parameters.

    python tools/trace/record_parameters.py OUT_DIR [model_type ...]

Models are built on the meta device in bfloat16, so that nothing is downloaded or computed.  One file per model_type; a
line `# HEAD CONFIG` begins each model, then a line per tensor: what it is, name, sizes, type, in the order of
named_parameters() and named_buffers().
"""

import json
import pathlib
import random
import sys

import torch
import transformers

SMALL = {"hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
GROUPED = {**SMALL, "num_key_value_heads": 2}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
GPT = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 128}
GPT_NEO = {"hidden_size": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 100, "max_position_embeddings": 128, "attention_types": [[["global", "local"], 1]]}
OPT = {"hidden_size": 64, "ffn_dim": 100, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
CAUSAL, MASKED, CLASSES, IMAGES = "causal_lm", "masked_lm", "sequence_classification", "image_text_to_text"
HEADS = {CAUSAL: transformers.AutoModelForCausalLM, MASKED: transformers.AutoModelForMaskedLM, CLASSES: transformers.AutoModelForSequenceClassification, IMAGES: transformers.AutoModelForImageTextToText}

CLIP = {"model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28, "patch_size": 14}
# As files on the hub have it: the text model's keys beside the others.
QWEN2_VL_2B = {
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "vocab_size": 151936,
    "rope_theta": 1000000.0,
    "use_sliding_window": False,
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
    "tie_word_embeddings": True,
}

# A small configuration of each family, with what it can do; the family's own defaults are the second, real one.
CASES = {
    "bert": [(MASKED, SMALL), (MASKED, {}), (CLASSES, {}), (CLASSES, {**SMALL, "num_labels": 5})],
    "biogpt": [(CAUSAL, SMALL), (CAUSAL, {}), (CLASSES, {**SMALL, "num_labels": 5})],
    "bloom": [(CAUSAL, {"n_layer": 2, "n_head": 4, "vocab_size": 100}), (CAUSAL, {"n_embed": 96, "num_hidden_layers": 1, "num_attention_heads": 6}), (CLASSES, {"n_layer": 2, "n_head": 4, "vocab_size": 100})],
    "codegen": [(CAUSAL, {**GPT, "rotary_dim": 8}), (CAUSAL, {**GPT, "n_inner": 100, "rotary_dim": 16, "tie_word_embeddings": True}), (CAUSAL, {})],
    "gemma": [(CAUSAL, {**GROUPED, "head_dim": 32, "attention_bias": True}), (CAUSAL, {})],
    "gemma2": [(CAUSAL, {**GROUPED, "head_dim": 32}), (CAUSAL, {})],
    "gpt2": [(CLASSES, {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100}), (CAUSAL, {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 100, "vocab_size": 100}), (CAUSAL, {})],
    "gpt_bigcode": [(CAUSAL, GPT), (CAUSAL, {**GPT, "multi_query": False, "n_inner": 100}), (CAUSAL, {}), (CLASSES, GPT)],
    "gpt_neo": [(CAUSAL, {**GPT_NEO, "intermediate_size": 100}), (CAUSAL, {}), (CLASSES, GPT_NEO)],
    "gpt_neox": [(CAUSAL, {**SMALL, "attention_bias": False, "tie_word_embeddings": True}), (CAUSAL, {}), (CLASSES, SMALL)],
    "llava": [(IMAGES, {"text_config": {"model_type": "llama", **GROUPED, **tied}, "vision_config": CLIP, **options}) for tied, options in (({}, {}), ({"tie_word_embeddings": True}, {}), ({}, {"tie_word_embeddings": True}))],
    "llama": [(CAUSAL, {**GROUPED, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}), (CAUSAL, {}), (CLASSES, {**GROUPED, "num_labels": 5, "tie_word_embeddings": True})],
    "mistral": [(CAUSAL, {**GROUPED, "head_dim": 24}), (CAUSAL, {})],
    "mixtral": [(CAUSAL, {**GROUPED, "num_local_experts": 4, "tie_word_embeddings": True}), (CAUSAL, {}), (CLASSES, {**GROUPED, "num_labels": 5})],
    "olmoe": [(CAUSAL, {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "attention_bias": True}), (CAUSAL, {})],
    "opt": [
        (CAUSAL, {**OPT, "word_embed_proj_dim": 32, "do_layer_norm_before": False}),
        (CAUSAL, {}),
        (CLASSES, {**OPT, "word_embed_proj_dim": 32}),
        (CAUSAL, {**OPT, "word_embed_proj_dim": 64, "activation_function": "gelu", "attention_dropout": 0.1, "enable_bias": False, "layer_norm_elementwise_affine": False, "tie_word_embeddings": False}),
    ],
    "phi3": [(CAUSAL, {**GROUPED, "partial_rotary_factor": 0.5, "pad_token_id": 0}), (CAUSAL, {})],
    "qwen2": [(CAUSAL, {**GROUPED, "tie_word_embeddings": True}), (CAUSAL, {})],
    "qwen2_moe": [(CAUSAL, {**GROUPED, **EXPERTS, "mlp_only_layers": [0], "shared_expert_intermediate_size": 48}), (CAUSAL, {}), (CLASSES, {**GROUPED, **EXPERTS})],
    "qwen2_vl": [
        (
            IMAGES,
            {
                "text_config": {**GROUPED, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}},
                "vision_config": {"depth": 2, "embed_dim": 128, "hidden_size": 64, "num_heads": 4, "mlp_ratio": 2},
                "tie_word_embeddings": True,
            },
        ),
        (IMAGES, {**QWEN2_VL_2B, "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 1536}}),
    ],
    "qwen3": [(CAUSAL, {**GROUPED, "head_dim": 32, "attention_bias": True}), (CAUSAL, {})],
    "qwen3_moe": [(CAUSAL, {**GROUPED, **EXPERTS, "decoder_sparse_step": 2, "head_dim": 32, "attention_bias": True}), (CAUSAL, {}), (CLASSES, {**GROUPED, **EXPERTS})],
}


# Keys that decide parameters, and what random configurations of a family take for them; the first is the usual one.
CHANGES = {
    "qwen3": {
        "hidden_size": [64, 32, 100],
        "intermediate_size": [160, 1, 77],
        "num_hidden_layers": [2, 0, 1],
        "num_attention_heads": [4, 2, 8],
        "num_key_value_heads": [2, 1],
        "head_dim": [16, 8, 128],
        "vocab_size": [100, 3, 513],
        "attention_bias": [False, True],
        "tie_word_embeddings": [False, True],
        "pad_token_id": [None, 0, 1],
        "use_sliding_window": [False, True],
        "sliding_window": [4096, 16],
        "max_window_layers": [28, 1, 0],
        "hidden_act": ["silu", "gelu"],
    },
}
HEADS_OF_CHANGES = (CAUSAL, CLASSES)
RANDOM = 24  # of each family


def random_cases(model_type):
    """A few keys of the usual configuration changed at random, the same ones each time."""
    draw = random.Random(model_type)
    for _ in range(RANDOM if model_type in CHANGES else 0):
        config = {key: values[0] for key, values in CHANGES[model_type].items()}
        for key in draw.sample(sorted(config), draw.randint(1, 6)):
            config[key] = draw.choice(CHANGES[model_type][key])
        yield draw.choice(HEADS_OF_CHANGES), config


def rows(model):
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, tensor in tensors:
            yield kind, name, "x".join(map(str, tensor.shape)), str(tensor.dtype).removeprefix("torch.")


def record(model_type, head, options, out):
    config = transformers.AutoConfig.for_model(model_type, **options)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = HEADS[head].from_config(config)
    torch.set_default_dtype(torch.float32)
    model.tie_weights()
    print("#", head, json.dumps({"model_type": model_type, **options}), file=out)
    for row in rows(model):
        print(*row, sep="\t", file=out)


def main():
    folder = pathlib.Path(sys.argv[1])
    for model_type in sys.argv[2:] or CASES:
        with open(folder / f"{model_type}.tsv", "w") as out:
            for head, options in [*CASES[model_type], *random_cases(model_type)]:
                record(model_type, head, options, out)


if __name__ == "__main__":
    main()
