"""What the rows of llmem_table.py say beside LLMem's own figures, as Markdown.

    python validation/parallel/llmem_score.py validation/parallel/llmem_gemini.jsonl > validation/parallel/llmem.md

A method that the paper ran at whatever batch fits at batch 1, too: a row that does not is a contradiction.  Where the paper says OOM and our row fits at
batch 1, nothing follows, for the paper does not say the batch; that is "open", and never counted as agreement."""

import json
import sys

from llmem_models import CHOICES, MODELS, ONE_GPU_MB
from llmem_table import memory

RANKS = (1, 2, 4)
GIB = 2**30


def rows_of(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return {(row["cell"]["model"], row["cell"]["ranks"]): row for row in rows if "error" not in row}, \
        {(row["cell"]["model"], row["cell"]["ranks"]): row["error"] for row in rows if "error" in row}


def outcome(row):
    if row is None:
        return "not run"
    if row["fits"]:
        return f"{row['reserved_bytes'] / GIB:.2f}"
    return f"no (step {row['oom']['step']}, {row['oom']['phase']})"


def verdict(seconds, row):
    if row is None:
        return "unknown"
    if seconds is not None:
        return "agrees" if row["fits"] else "contradicts"
    left = (memory() - row["device_bytes"]) / 2**20
    return f"open: fits at batch 1, with {left:,.0f} MiB left for NCCL" if row["fits"] else "agrees"


def pick(seconds, row):
    """Its choice is the fastest method that fits: 4DP wherever that ran."""
    chosen = min((s, name) for s, name in zip(seconds, ("4DP", "2DP+2TP", "4TP")) if s)[1] if any(seconds) else "none"
    if row is None:
        return chosen, "unknown"
    if chosen == "4DP":
        return chosen, "agrees" if row["fits"] else "contradicts"
    if not row["fits"]:
        return chosen, "agrees that it is not 4DP; TP not evaluated"
    return chosen, "open: 4DP fits at batch 1"


def main():
    rows, errors = rows_of(sys.argv[1])
    print("<!-- written by llmem_score.py -->\n## Under Gemini, batch 1, 512 tokens: reserved GiB per GPU of 16 GB, where it fits\n")
    print("| model | " + " | ".join(f"{n} GPU{'s' if n > 1 else ''}" for n in RANKS) + " |\n|---|" + "---|" * len(RANKS))
    for model in MODELS:
        print(f"| {model} | " + " | ".join(outcome(rows.get((model, ranks))) for ranks in RANKS) + " |")
    print("\n## The nine choices on four GPUs\n\n| model | 4DP in the paper | 4DP here | | its choice | |\n|---|---|---|---|---|---|")
    for model, seconds in CHOICES.items():
        row = rows.get((model, 4))
        chosen, agreement = pick(seconds, row)
        print(f"| {model} | {seconds[0] or 'OOM'} | {outcome(row)} | {verdict(seconds[0], row)} | {chosen} | {agreement} |")
    print("\n## One GPU\n\n| model | measured there, batch not said (MB) | here at batch 1: reserved, and device (MB) |\n|---|---|---|")
    for model, measured in ONE_GPU_MB.items():
        row = rows.get((model, 1))
        here = f"{row['reserved_bytes'] / 2**20:,.0f}, {row['device_bytes'] / 2**20:,.0f}" if row and row["fits"] else outcome(row)
        print(f"| {model} | {measured:,} | {here} |")
    for (model, ranks), message in errors.items():
        if (model, ranks) not in rows:
            print(f"\n{model} on {ranks}: the program failed: `{message.strip().splitlines()[-1][:160]}`")


if __name__ == "__main__":
    main()
