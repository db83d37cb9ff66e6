"""The cases of record_steps.py: specs of `tidemark predict`, each an option or a pair of options that changes memory."""

from checkpoint_cases import chosen_layers, kept_attention, kept_operators
from context_parallel_cases import context_parallel
from fsdp_cases import classes_to_wrap, flat_sharded, fully_sharded
from gemini_cases import gemini
from grpo_cases import groups_of_completions
from preference_cases import preferences
from product_cases import products
from quantization_cases import in_8bit, quantized
from sft_cases import sft_trainer
from step_groups import (
    LORA,
    MODEL,
    adapters,
    by_trainer,
    classifiers,
    data_parallel,
    expert_parallel,
    experts,
    families,
    grids,
    large,
    odd_heads,
    older_families,
    optimizers,
    optimizers_of_others,
    pipeline,
    positions,
    steps,
    tensor_and_data_parallel,
    tensor_parallel,
    vision,
    zero,
    zero3,
)
from zero3_cases import leaf_modules
from zero_init_cases import made_in_parts

BASE = {"model": MODEL, "batch": 2, "seq": 64}
GROUPS = (
    steps, optimizers_of_others, by_trainer, adapters, large, vision, grids, families, positions, odd_heads, classifiers, older_families, experts, data_parallel, zero, zero3,
    leaf_modules, made_in_parts, expert_parallel, tensor_parallel, tensor_and_data_parallel, fully_sharded, flat_sharded, pipeline, products, lambda: context_parallel(MODEL, LORA),
    lambda: gemini(MODEL), chosen_layers, kept_operators, quantized, in_8bit, sft_trainer, preferences, groups_of_completions, classes_to_wrap,
)
# Recorded on other cards too, whose kernels or sizes differ.
ON_OTHER_CARDS = ("adamw", "adafactor", "large_adafactor", "large_clip", "lora", "checkpoint", "scaler_clip", "reentrant_amp", "mixtral_full", "tp_sequence",
                  "tp_plan", "cp_two_0", "cp_two_1", "cp_checkpoint", "qlora", "qlora_few_rows")


def cases():
    found = []
    for name, options in optimizers().items():
        found.append((name, options))
        found.append((name + "_loop", {**options, "optimizer_impl": "loop"}))
        if options.get("optimizer", "adamw") in ("adamw", "adam", "sgd", "adagrad"):   # adagrad since torch 2.12
            found.append((name + "_fused", {**options, "optimizer_impl": "fused"}))
        if options.get("optimizer") == "adafactor":
            found.append((name + "_foreach", {**options, "optimizer_impl": "foreach"}))
    for group in GROUPS:
        found += group().items()
    listed = [{"name": name, "card": "h200", "spec": {**BASE, **options}} for name, options in found]
    listed += [{"name": name, "card": card, "spec": {**BASE, **options}} for card, name, options in kept_attention()]
    return listed + [{**case, "name": f"{case['name']}_on_{card.replace('-', '_')}", "card": card}
                     for card in ("a100-80gb", "rtx-4090") for case in listed if case["name"] in ON_OTHER_CARDS]
