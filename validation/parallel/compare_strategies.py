"""Puts the recorded cells of strategies_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_strategies.py validation/parallel/llama_strategies.jsonl [--strategies fsdp2 tp]

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %, or an interval is another. FSDP1 and ZeRO-3 have peaks with events that
are over at once, and intervals with events that are as late as can be; by the clock they are between the two (README.md).
"""

import argparse
import ast
import json
import sys
from pathlib import Path

from comparing import ROOT, answered, compare, ends
from strategies_table import WAIT_FOR_STREAMS

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


def waits(cell):
    """Whether the order of events decides what is reserved."""
    return cell["strategy"] in WAIT_FOR_STREAMS


def tells_ends(cell):
    """Whether the interval of that run is what any run leaves open. DeepSpeed asks for events and goes by the answer, so it takes a run in which they come late."""
    return waits(cell) and cell.get("event_order") == {"fsdp1": "instant", "zero3": "late"}[cell["strategy"]]


def predicted(cell):
    return answered(cell, spec_of(cell))


def compare_ends(rows):
    """1 if any prediction leaves something else open than the run does."""
    different = 0
    for row in rows:
        got, want = ends(predicted(row["cell"])), ends(row)
        different += got != want
        print(" ".join(f"{key}={value}" for key, value in row["cell"].items()), "", "reserved {:,} to {:,}".format(*want["reserved_bytes"]), "" if got == want else f"DIFFERS: {got}", flush=True)
    print(f"{len(rows) - different} of {len(rows)} intervals are equal")
    return 1 if different else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("--strategies", nargs="*", default=list(KNOWN), choices=KNOWN)
    asked = parser.parse_args()
    rows = [row for row in map(json.loads, asked.rows.read_text().splitlines()) if row["cell"]["strategy"] in asked.strategies and is_predictable(row["cell"])]
    at_once = [row for row in rows if not waits(row["cell"]) or row["cell"].get("event_order") == "instant"]
    return compare(at_once, predicted) | compare_ends([row for row in rows if tells_ends(row["cell"])])


if __name__ == "__main__":
    sys.exit(main())
