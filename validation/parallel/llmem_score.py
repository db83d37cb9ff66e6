"""What the rows of llmem_table.py say beside LLMem's own figures, as Markdown.

    python validation/parallel/llmem_score.py validation/parallel/llmem.jsonl > validation/parallel/llmem.md

A method that the paper ran at whatever batch fits at batch 1, too: a row that does not is a contradiction.  Where the paper says OOM and our row fits at
batch 1, nothing follows, for the paper does not say the batch, nor from a row that may fit; that is "open", and never counted as agreement."""

import json
import sys

from llmem_models import CHOICES, ON_FOUR, ONE_GPU_MB, chosen

GIB = 2**30


def rows_of(path):
    """By model and method, and then by batch."""
    rows = {}
    with open(path) as file:
        for row in map(json.loads, file):
            cell = row["cell"]
            rows.setdefault((cell["model"], cell["method"]), {})[cell["batch"]] = row
    return rows


def outcome(row):
    if row is None:
        return "not run"
    if "error" in row:
        return "failed"
    if row["fits"] is None:
        return f"may fit, {row['device_bytes'] / GIB:.2f}"
    if row["fits"]:
        return f"{row['device_bytes'] / GIB:.2f}"
    oom = row["oom"]
    return f"no (step {oom['step']}, {'before forward' if oom['phase'] == 'other' else oom['phase']})"


def largest(batches):
    """The largest batch that fits for certain, and the largest that may."""
    return max((batch for batch, row in batches.items() if row["fits"]), default=0), max((batch for batch, row in batches.items() if row["fits"] is not False), default=0)


def verdict(seconds, row):
    if row is None or "error" in row:
        return "unknown"
    if row["fits"] is None:
        return "open"
    if seconds is not None:
        return "agrees" if row["fits"] else "contradicts"
    return "open" if row["fits"] else "agrees"


def beside(seconds, batches):
    there = f"{seconds:,} s" if seconds else "OOM"
    fits, may = largest(batches)
    sizes = "" if not may else f"; batch {fits}" + (f", perhaps {may}" if may > fits else "") if fits else f"; batch {may}, perhaps"
    return f"{outcome(batches.get(1))}{sizes} ({there}): {verdict(seconds, batches.get(1))}"


def follows(verdicts, seconds):
    if set(verdicts) == {"agrees"}:
        return "follows"
    if "contradicts" in verdicts or "unknown" in verdicts:
        return "contradicted" if "contradicts" in verdicts else "unknown"
    had = [f"{name} had {'' if s else 'no '}room there" for name, s, found in zip(ON_FOUR, seconds, verdicts) if found == "open"]
    return "follows, if " + " and ".join(had)


def main():
    rows = rows_of(sys.argv[1])
    print(
        "<!-- written by llmem_score.py -->\n## The nine choices on four GPUs: here (there)\n\nGiB that rank 0 holds of a V100-16GB at batch 1, 512 tokens, context and communicators included, where it fits; the largest batch that fits. Its choice is the fastest "
        "method that fits, by the seconds of one epoch there; nothing here measures time.\n\n| model | " + " | ".join(ON_FOUR) + " | its choice | |\n|---|---|---|---|---|---|"
    )
    for model, seconds in CHOICES.items():
        cells = [rows.get((model, method), {}) for method in ON_FOUR]
        verdicts = [verdict(s, batches.get(1)) for s, batches in zip(seconds, cells)]
        print(f"| {model} | " + " | ".join(beside(s, batches) for s, batches in zip(seconds, cells)) + f" | {chosen(seconds)} | {follows(verdicts, seconds)} |")
    print("\n## One GPU: MB\n\n| model | measured there, batch not said | here at batch 1 |\n|---|---|---|")
    for model, measured in ONE_GPU_MB.items():
        row = rows.get((model, "1"), {}).get(1)
        print(f"| {model} | {measured:,} | {row['device_bytes'] / 2**20:,.0f} |" if row and row.get("fits") else f"| {model} | {measured:,} | {outcome(row)} |")
    for (model, method), batches in rows.items():
        for row in batches.values():
            if "error" in row:
                print(f"\n{model}, {method}: the program failed: `{row['error'].strip().splitlines()[-1][:160]}`")


if __name__ == "__main__":
    main()
