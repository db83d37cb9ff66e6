"""What the rows of llmem_table.py say beside LLMem's own figures, as Markdown.

    python validation/parallel/llmem_score.py validation/parallel/llmem.jsonl > validation/parallel/llmem.md

A method that the paper ran at whatever batch fits at batch 1, too: a row that does not is a contradiction.  Where the paper says OOM and our row fits at
batch 1, nothing follows, for the paper does not say the batch; that is "open", and never counted as agreement."""

import json
import sys

from llmem_models import CHOICES, METHODS, MODELS, ONE_GPU_MB

GIB = 2**30
ON_FOUR = ("4DP", "2DP+2TP", "4TP")


def rows_of(path):
    """Rows by model and method at batch 1, and how those that were run otherwise came out: (MiB taken, batch) to whether it fits."""
    plain, otherwise = {}, {}
    with open(path) as file:
        for row in map(json.loads, file):
            cell = row["cell"]
            place, run = (cell["model"], cell["method"]), (cell.get("taken_mib", 0), cell["batch"])
            if run == (0, 1):
                plain[place] = row
            else:
                otherwise.setdefault(place, {})[run] = row["fits"]
    return plain, otherwise


def outcome(row):
    if row is None:
        return "not run"
    if "error" in row:
        return "failed"
    if row["fits"]:
        return f"{row['device_bytes'] / GIB:.2f}"
    oom = row["oom"]
    return f"no (step {oom['step']}, {'before forward' if oom['phase'] == 'other' else oom['phase']})"


def room(found):
    """Whether it fits with less memory, and with larger batches."""
    said = [f"{'fits' if fits else 'does not'} {f'with {taken:,} MiB less' if taken else f'at batch {batch}'}" for (taken, batch), fits in sorted(found.items())]
    return f" ({', '.join(said)})" if said else ""


def verdict(seconds, row):
    if row is None or "error" in row:
        return "unknown"
    if seconds is not None:
        return "agrees" if row["fits"] else "contradicts"
    return "open" if row["fits"] else "agrees"


def beside(seconds, row, found):
    there = f"{seconds:,} s" if seconds else "OOM"
    judged = verdict(seconds, row)
    return f"{outcome(row)} ({there}): {judged}{room(found) if judged == 'open' else ''}"


def choice(verdicts, seconds):
    """Its choice is the fastest method that fits."""
    chosen = min((s, name) for s, name in zip(seconds, ON_FOUR) if s)[1] if any(seconds) else "none"
    if set(verdicts) == {"agrees"}:
        return chosen, "follows"
    if "contradicts" in verdicts or "unknown" in verdicts:
        return chosen, "contradicted" if "contradicts" in verdicts else "unknown"
    return chosen, f"follows, if {' and '.join(name for name, found in zip(ON_FOUR, verdicts) if found == 'open')} had no room there"


def main():
    rows, otherwise = rows_of(sys.argv[1])
    print("<!-- written by llmem_score.py -->\n## Batch 1, 512 tokens: GiB that rank 0 holds of a V100-16GB, context included, where it fits\n")
    print("| model | " + " | ".join("one GPU" if method == "1" else method for method in METHODS) + " |\n|---|" + "---|" * len(METHODS))
    for model in MODELS:
        print(f"| {model} | " + " | ".join(outcome(rows.get((model, method))) for method in METHODS) + " |")
    print("\n## The nine choices on four GPUs: here (there)\n\nIts choice is the fastest method that fits, by the seconds of one epoch there; nothing here measures time.\n\n| model | " + " | ".join(ON_FOUR) + " | its choice | |\n|---|---|---|---|---|---|")
    for model, seconds in CHOICES.items():
        cells = [rows.get((model, method)) for method in ON_FOUR]
        verdicts = [verdict(s, row) for s, row in zip(seconds, cells)]
        print(f"| {model} | " + " | ".join(beside(s, row, otherwise.get((model, method), {})) for s, row, method in zip(seconds, cells, ON_FOUR)) + " | " + " | ".join(choice(verdicts, seconds)) + " |")
    print("\n## One GPU: MB\n\n| model | measured there, batch not said | here at batch 1 |\n|---|---|---|")
    for model, measured in ONE_GPU_MB.items():
        row = rows.get((model, "1"), {})
        here = f"{row['device_bytes'] / 2**20:,.0f}" if row.get("fits") else outcome(row or None)
        print(f"| {model} | {measured:,} | {here} |")
    for (model, method), row in rows.items():
        if "error" in row:
            print(f"\n{model}, {method}: the program failed: `{row['error'].strip().splitlines()[-1][:160]}`")


if __name__ == "__main__":
    main()
