"""What `tidemark plan` would choose of LLMem's three methods for its nine models, beside what LLMem chose, as Markdown.

    python validation/parallel/llmem_choices.py validation/parallel/llmem.jsonl > validation/parallel/llmem_choices.md

By the rule of a plan: of what fits for certain the fastest; where nothing does, what may fit and needs least.  What fits is what real runs of LLMem's own
programs said (llmem_table.py), each method at the largest batch that fits; the time is the plan's own estimate of a step (src/plan/step_time.h)."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cells import TIDEMARK
from llmem_models import CHOICES, MODELS, ON_FOUR, chosen
from llmem_score import largest, rows_of
from llmem_table import card

AS_SPECS = {"4DP": {"parallel": "gemini"}, "2DP+2TP": {"parallel": "gemini", "tp": {"degree": 2}}, "4TP": {"tp": {"degree": 4}}}
# LLMem's transformers has eager attention alone, and checkpoints every layer; HybridAdam is one kernel.
ALWAYS = {"seq": 512, "dtype": "fp16", "attn": "eager", "checkpointing": "reentrant", "optimizer_impl": "fused", "gpus": 4}


def estimated(asked):
    """Seconds of a step of each (model, method, batch)."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        # What a pass computes is counted on the torch that is known, which has kernels from Turing on; speeds, sizes and links are the V100's.
        Path(folder, "card.json").write_text(json.dumps({**{key: value for key, value in card().items() if key != "aliases"}, "key": "v100-for-counting", "compute_capability": [7, 5]}))
        Path(folder, "corpus.json").write_text(json.dumps({"schema": "tidemark.step-times/1", "name": "llmem"}))
        rows = [{"id": json.dumps(one), "source": "LLMem", "gpu": str(Path(folder, "card.json")), "seconds": 1, "spec": {**ALWAYS, "model": MODELS[one[0]], "batch": one[2], **AS_SPECS[one[1]]}} for one in asked]
        Path(folder, "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = subprocess.run([TIDEMARK, "validate", "--step-times", folder, "--json", "-"], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert not found["left_out"], found["left_out"]
    return {tuple(json.loads(row["id"])): row["estimated_seconds"] for row in found["rows"]}


def choices(path):
    """{model: ({method: (largest batch, milliseconds a sample)} of what fits for certain, our choice, whether it fits for certain)}"""
    rows = rows_of(path)
    fitting = {(model, method): largest(rows[model, method])[0] for model in CHOICES for method in ON_FOUR}
    seconds = estimated([(*place, batch) for place, batch in fitting.items() if batch])
    found = {}
    for model in CHOICES:
        ways = {method: (batch, 1000 * seconds[model, method, batch] / (batch * ON_FOUR[method])) for method in ON_FOUR if (batch := fitting[model, method])}
        may = {method: row["device_bytes"] for method in ON_FOUR if (row := rows[model, method][1])["fits"] is None}
        if ways:
            found[model] = ways, min(ways, key=lambda method: ways[method][1]), True
        else:
            found[model] = ways, min(may, key=may.get) if may else "none", not may
    return found


def main():
    print(
        "<!-- written by llmem_choices.py -->\n## LLMem's choices, and a plan's\n\nBatch, and estimated milliseconds for each sample, of the methods that fit for certain.\n\n| model | "
        + " | ".join(ON_FOUR)
        + " | LLMem's choice | a plan's |\n|---|---|---|---|---|---|"
    )
    for model, (ways, ours, is_certain) in choices(sys.argv[1]).items():
        cells = [f"{ways[method][0]}: {ways[method][1]:.0f} ms" if method in ways else "-" for method in ON_FOUR]
        print(f"| {model} | " + " | ".join(cells) + f" | {chosen(CHOICES[model])} | {ours if is_certain else f'{ours}, which may fit'} |")


if __name__ == "__main__":
    main()
