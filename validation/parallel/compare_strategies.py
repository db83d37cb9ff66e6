"""Puts the recorded cells of strategies_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_strategies.py validation/parallel/llama_strategies.jsonl [--strategies fsdp2 tp]

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %, which are some of FSDP1 and ZeRO-3 by the clock (README.md).
"""

import argparse
import ast
import json
import sys
from pathlib import Path

from comparing import ROOT, answered, compare

POLICY = {"param_dtype": "bf16", "reduce_dtype": "fp32"}
COLUMNS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
ROWS = ("self_attn.o_proj", "mlp.down_proj")
PLAN = {f"model.layers.*.{name}": "colwise" for name in COLUMNS} | {f"model.layers.*.{name}": "rowwise" for name in ROWS} | {"model.embed_tokens": "rowwise", "lm_head": "colwise"}
WRAPPED = {"dtype": "fp32", "load": "wrapped"}
KNOWN = {  # what train_llama.py does with its strategies
    "ddp": {"parallel": "ddp"},
    "ddp_amp": {"parallel": "ddp", "dtype": "fp32", "autocast": "bf16"},
    "zero1": {"parallel": "zero1"},
    "zero2": {"parallel": "zero2"},
    "zero3": {"parallel": "zero3"},
    "fsdp1": {"parallel": "fsdp1", **WRAPPED, "fsdp1": POLICY},
    "fsdp2": {"parallel": "fsdp2", **WRAPPED, "fsdp2": {**POLICY, "reshard_after_forward": True}},
    "fsdp2_keep": {"parallel": "fsdp2", **WRAPPED, "fsdp2": {**POLICY, "reshard_after_forward": False}},
    "tp": {"tp": {"plan": PLAN}},
}


def model():
    """CONFIG of train_llama.py, which imports torch."""
    text = (ROOT / "validation/parallel/train_llama.py").read_text()
    config = next(node.value for node in ast.parse(text).body if isinstance(node, ast.Assign) and node.targets[0].id == "CONFIG")
    return {"model_type": "llama", **{keyword.arg: ast.literal_eval(keyword.value) for keyword in config.keywords}}


def spec_of(cell):
    checkpointing = "non_reentrant" if cell["checkpointing"] else "none"
    asked = dict(KNOWN[cell["strategy"]])
    if "tp" in asked:
        asked["tp"] = {**asked["tp"], "degree": cell["ranks"]}
    return {"model": model(), "batch": 4, "seq": 1024, "use_cache": False, "checkpointing": checkpointing, "gpus": cell["ranks"], **asked}


def is_predictable(cell):
    """With one rank FSDP1 does not shard, and a thread of PyTorch's decides by the clock when DDP's old buckets go (README.md)."""
    return cell["ranks"] > 1 or cell["strategy"] not in ("fsdp1", "ddp", "ddp_amp")


def predicted(cell):
    return answered(cell, spec_of(cell))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("--strategies", nargs="*", default=list(KNOWN), choices=KNOWN)
    asked = parser.parse_args()
    rows = [row for row in map(json.loads, asked.rows.read_text().splitlines()) if row["cell"]["strategy"] in asked.strategies and is_predictable(row["cell"])]
    return compare(rows, predicted)


if __name__ == "__main__":
    sys.exit(main())
