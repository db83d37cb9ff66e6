"""Puts every recorded tensor-parallel cell of strategies_table.py to `tidemark predict` and prints how far apart the two are.

    python validation/parallel/compare_tp.py validation/parallel/llama_strategies.jsonl

Fails when a peak of allocated memory is further off than 0.1 %, or one of reserved memory than 2 %.
"""

import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from compare_zero2 import BARS, ROOT, TIDEMARK, peaks

COLUMNS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
ROWS = ("self_attn.o_proj", "mlp.down_proj")
PLAN = {f"model.layers.*.{name}": "colwise" for name in COLUMNS} | {f"model.layers.*.{name}": "rowwise" for name in ROWS} | {"model.embed_tokens": "rowwise", "lm_head": "colwise"}


def model():
    """CONFIG of train_llama.py, which imports torch."""
    text = (ROOT / "validation/parallel/train_llama.py").read_text()
    config = next(node.value for node in ast.parse(text).body if isinstance(node, ast.Assign) and node.targets[0].id == "CONFIG")
    return {"model_type": "llama", **{keyword.arg: ast.literal_eval(keyword.value) for keyword in config.keywords}}


def predicted(cell):
    spec = {"model": model(), "batch": 4, "seq": 1024, "gpus": cell["ranks"], "tp": {"degree": cell["ranks"], "plan": PLAN}, "use_cache": "false",
            "checkpointing": "non_reentrant" if cell["checkpointing"] else "none"}
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        asked, report = Path(folder, "spec.json"), Path(folder, "report.json")
        asked.write_text(json.dumps(spec))
        done = subprocess.run([TIDEMARK, "predict", "--spec", str(asked), "--gpu", "h100-80gb", "--quiet", "--json", str(report)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{cell}: {done.stderr.strip()}")
        return json.loads(report.read_text())


def main():
    rows = [row for row in map(json.loads, Path(sys.argv[1]).read_text().splitlines()) if row["cell"]["strategy"] == "tp"]
    missed = 0
    for row in rows:
        got, want = peaks(predicted(row["cell"])), peaks(row)
        passes = all(abs(got[name] - want[name]) <= bar * want[name] for name, bar in BARS.items())
        missed += not passes
        shown = "  ".join(f"{name.split('_')[0]} {want[name]:,} {got[name] - want[name]:+,}" for name in BARS)
        print(" ".join(f"{key}={value}" for key, value in row["cell"].items()), "", shown, "" if passes else "MISSED", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} cells hold")
    return 1 if missed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
