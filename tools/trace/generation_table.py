#!/usr/bin/env python3
"""Compares predictions of generate() with transformers' own, allocation by allocation, on the virtual GPU.

usage: generation_table.py --tidemark BINARY --python PYTHON --out FOLDER [--table docs/proved-generation.md] [--only NAME ...]

PYTHON has torch and transformers.  OUT gets the recordings; those that are there are not made again.  The exit code is
1 where a generation differs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "capture")]
TOKENS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
SIZES = {
    "vocab_size": 32000,
    "hidden_size": 512,
    "intermediate_size": 1376,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    **TOKENS,
}
FULL_HEADS = {key: value for key, value in SIZES.items() if key != "num_key_value_heads"}
LATENT = {
    "kv_lora_rank": 64,
    "q_lora_rank": 96,
    "qk_rope_head_dim": 32,
    "qk_nope_head_dim": 64,
    "v_head_dim": 64,
    "n_routed_experts": 16,
    "n_group": 8,
    "topk_group": 4,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 256,
    "first_k_dense_replace": 3,
}
FAMILIES = {
    "llama": SIZES,
    "mistral": {**SIZES, "sliding_window": 128},
    "qwen2": SIZES,
    "qwen3": {**SIZES, "head_dim": 64},
    "qwen3_moe": {**SIZES, "head_dim": 64, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256},
    "phi3": SIZES,
    "gemma2": {**SIZES, "head_dim": 64, "sliding_window": 128, "num_hidden_layers": 4},
    "olmo2": SIZES,
    "granite": SIZES,
    "smollm3": {**SIZES, "num_hidden_layers": 4},
    "gemma": {**SIZES, "head_dim": 64},
    "gemma3_text": {**SIZES, "head_dim": 64, "sliding_window": 128, "num_hidden_layers": 8},
    "mixtral": {**SIZES, "num_local_experts": 8, "num_experts_per_tok": 2},
    "gpt_oss": {**SIZES, "head_dim": 64, "sliding_window": 128, "num_hidden_layers": 4, "num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2_moe": {**SIZES, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256, "shared_expert_intermediate_size": 512},
    "deepseek_v3": {**SIZES, **LATENT, "num_key_value_heads": 8, "num_hidden_layers": 6},
    "starcoder2": SIZES,
    "stablelm": {**SIZES, "num_key_value_heads": 8},
    "phi": SIZES,
    "glm4": {**SIZES, "head_dim": 64},
    "cohere2": {**SIZES, "sliding_window": 128, "num_hidden_layers": 4},
    "gpt_neox": FULL_HEADS,
    "opt": {**FULL_HEADS, "ffn_dim": 2048, "word_embed_proj_dim": 512},
    "falcon": {**FULL_HEADS, "alibi": False, "new_decoder_architecture": False, "multi_query": True},
    "bloom": {**TOKENS, "vocab_size": 32000, "hidden_size": 512, "n_layer": 3, "n_head": 8},
    "gpt2": {"n_layer": 3, "n_embd": 512, "n_head": 8, "vocab_size": 32000, "bos_token_id": 1, "eos_token_id": 2},
}
GENERATION_CONFIGS = {"qwen2": {"bos_token_id": 1, "eos_token_id": [2, 3], "pad_token_id": 0, "repetition_penalty": 1.05}}
SETTINGS = {  # prompts, tokens of each, new tokens
    "short": (2, 100, 4),
    "past the window": (2, 126, 6),
    "long": (1, 1000, 4),
    "many": (32, 200, 3),
}
PAGE = """# Generation that is proved

`tools/trace/generation_table.py` makes this page. `generate()` of transformers runs on a virtual H100 ({versions}), and
is predicted from the program of its family. *equal* (with the number of allocations): the same allocations with the
same frees between them, one by one. Weights are in bfloat16. Qwen 2 has a generation_config.json with a
repetition_penalty.

{total}

| family | {titles} |
| --- |{rules}
{rows}
"""


def cases():
    return [(family, setting) for family in FAMILIES for setting in SETTINGS]


def name_of(case):
    return ".".join(case).replace(" ", "-")


def config_of(family, folder):
    path = folder / family / "config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"model_type": family, **FAMILIES[family]}))
    if family in GENERATION_CONFIGS:
        path.with_name("generation_config.json").write_text(json.dumps(GENERATION_CONFIGS[family]))
    return path


def record(case, options):
    events = options.out / f"{name_of(case)}.real"
    if events.exists():
        return events
    batch, prompt, new = SETTINGS[case[1]]
    config = config_of(case[0], options.out).parent
    program = [ROOT / "examples/generate.py", config, "--batch", batch, "--prompt", prompt, "--new-tokens", new]
    command = [options.tidemark, "run", "--quiet", "--gpu", "h100-80gb", "--", options.python, *program]
    unfinished = events.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "TIDEMARK_EVENTS": str(unfinished)},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1) or f"{new} new tokens" not in done.stdout:
        raise SystemExit(f"{name_of(case)}: {done.stdout}{done.stderr}")
    unfinished.rename(events)
    return events


def compare(case, options):
    """A cell of the table."""
    from prove import allocations, compared

    real, ours = record(case, options), options.out / f"{name_of(case)}.ours"
    batch, prompt, new = SETTINGS[case[1]]
    question = ["--batch", batch, "--prompt", prompt, "--generate", new, "--gpu", "h100-80gb", "--quiet"]
    command = [options.tidemark, "predict", config_of(case[0], options.out), *question, "--events", ours]
    versions = [f"--{name}={version}" for name, version in options.versions.items()]
    asked = subprocess.run([str(word) for word in command] + versions, capture_output=True, text=True)
    if asked.returncode not in (0, 1):
        return " ".join(asked.stderr.split())[:300].replace("|", "/")
    row = compared(allocations(real), allocations(ours))
    return f"equal, {row['of']}" if row["equal"] else f"differs at {row['at']} of {row['of']}"


def page(cells, versions):
    equal = sum(cell.startswith("equal") for cell in cells.values())
    lines = [f"| {family} | " + " | ".join(cells[family, setting] for setting in SETTINGS) + " |" for family in FAMILIES]
    titles = [f"{setting}: {batch} x {prompt} + {new}" for setting, (batch, prompt, new) in SETTINGS.items()]
    return PAGE.format(
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        total=f"{equal} of {len(cells)} are equal.",
        titles=" | ".join(titles),
        rules=" --- |" * len(SETTINGS),
        rows="\n".join(lines),
    )


def versions_of(python):
    names = ("torch", "transformers")
    code = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {names}}}))"
    found = json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)
    return {name: version.partition("+")[0] for name, version in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], help="families")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.versions = versions_of(options.python)
    cells = {}
    for case in cases():
        if options.only and case[0] not in options.only:
            continue
        cells[case] = compare(case, options)
        print(name_of(case), cells[case], flush=True)
    if options.table:
        options.table.write_text(page(cells, options.versions))
    return 0 if all(cell.startswith("equal") for cell in cells.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
