"""Puts recorded cells of strategies_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_strategies.py validation/parallel/llama_strategies.jsonl [--strategies fsdp2 fsdp2_keep]

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %.  The recorded program's loop gives the model no
attention mask and keeps its batch, some KiB that predictions do not have.
"""

import argparse
import json
import sys
from pathlib import Path

from compare_zero2 import BARS, answered, peaks

MODEL = {"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 2048}
POLICY = {"param_dtype": "bf16", "reduce_dtype": "fp32"}
KNOWN = {  # what train_llama.py does with its strategies
    "fsdp1": {"parallel": "fsdp1", "dtype": "fp32", "load": "wrapped", "fsdp1": POLICY},
    "fsdp2": {"parallel": "fsdp2", "dtype": "fp32", "load": "wrapped", "fsdp2": {**POLICY, "reshard_after_forward": True}},
    "fsdp2_keep": {"parallel": "fsdp2", "dtype": "fp32", "load": "wrapped", "fsdp2": {**POLICY, "reshard_after_forward": False}},
}


def spec_of(cell):
    checkpointing = "non_reentrant" if cell["checkpointing"] else "none"
    return {"model": MODEL, "batch": 4, "seq": 1024, "use_cache": False, "checkpointing": checkpointing, "gpus": cell["ranks"], **KNOWN[cell["strategy"]]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("--strategies", nargs="*", default=list(KNOWN), choices=KNOWN)
    asked = parser.parse_args()
    rows = [row for row in map(json.loads, asked.rows.read_text().splitlines()) if row["cell"]["strategy"] in asked.strategies]
    rows = [row for row in rows if row["cell"]["strategy"] != "fsdp1" or row["cell"]["ranks"] > 1]  # it does not shard then
    missed, worst = 0, dict.fromkeys(BARS, 0.0)
    for row in rows:
        got, want = peaks(answered(row["cell"], spec_of(row["cell"]))), peaks(row)
        off = {name: abs(got[name] - want[name]) / want[name] for name in BARS}
        worst = {name: max(worst[name], off[name]) for name in BARS}
        passes = all(off[name] <= bar for name, bar in BARS.items())
        missed += not passes
        shown = "  ".join(f"{name.split('_')[0]} {want[name]:,} {got[name] - want[name]:+,}" for name in BARS)
        print(" ".join(f"{key}={value}" for key, value in row["cell"].items()), "", shown, "" if passes else "MISSED", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} cells hold; worst:", ", ".join(f"{name.split('_')[0]} {100 * worst[name]:.4f} %" for name in BARS))
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
