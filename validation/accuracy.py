"""Writes docs/accuracy.md: what is claimed, on what evidence, and what is not known; data/residuals.json, which
`--margin` reads, and data/step_time_residuals.json, the bands of the step times that `tidemark plan` estimates.

    python validation/accuracy.py [--check]

Every figure comes from `tidemark validate` over the corpora of this repository as they are stored, or is counted in its recordings; nothing is
typed by hand.  With --check nothing is written, and the exit code is 1 when the page is not the one that would be.
"""

import argparse
import collections
import difflib
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/accuracy.md"
RESIDUALS = ROOT / "data/residuals.json"
TIMES = ROOT / "data/step_time_residuals.json"
CORPORA = sorted(path.parent for path in (ROOT / "validation").glob("*/corpus.json"))
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))

# The groups of each corpus that are shown, one table each: --by, and what the table is headed by.
TABLES = (("corpus,modality,metric", "By modality and metric"), ("corpus,method", "By method"), ("corpus,family", "By model family"), ("corpus,gpu", "By card"))


def validated(by):
    """`tidemark validate --json`: 0 and 1 are answers, the second with a bar that is missed."""
    done = subprocess.run([TIDEMARK, "validate", "--by", by, "--json", "-"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def timed():
    """`tidemark validate --step-times --json`."""
    done = subprocess.run([TIDEMARK, "validate", "--step-times", "--json", "-"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def percent(value):
    return "" if value is None else f"{100 * value:.2f} %"


def gib(value):
    return "" if value is None else f"{value / 2**30:.2f} GiB"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" if i == 0 else "---:" for i in range(len(head))) + " |"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def statistics_row(name, one):
    verdicts = one["verdicts"] - one["false_refusals"] - one["missed_ooms"]
    right = f"{verdicts} of {one['verdicts']}" if one["verdicts"] else ""
    return [name, one["n"], percent(one["median"]), percent(one["p90"]), percent(one["max"]), percent(one["signed_mean"]), one["under_predictions"], right]


def residuals():
    """data/residuals.json: (measured - predicted) / predicted of every stored answer of `run`, by modality, for `--margin`."""
    found = collections.defaultdict(list)
    for folder in CORPORA:
        rows = {row["id"]: row for row in map(json.loads, (folder / "rows.jsonl").read_text().splitlines())}
        for answer in map(json.loads, (folder / "predictions.jsonl").read_text().splitlines()):
            row = rows[answer["id"]]
            measured, predicted = row.get("measured_bytes"), answer.get(row["metric"] + "_bytes")
            if measured is None or predicted is None or row.get("out_of_memory") or answer.get("out_of_memory") or row.get("left_out"):
                continue
            off = measured - predicted
            found[row["modality"]].append(0.0 if abs(off) <= row.get("rounding_bytes", 0) else round(off / predicted, 6))
    groups = [{"modality": modality, "n": len(shares), "residuals": sorted(shares)} for modality, shares in sorted(found.items())]
    source = "validation/accuracy.py: stored answers of `tidemark run` against the rows of " + ", ".join(f"validation/{folder.name}" for folder in CORPORA)
    return "{\n" + f'  "schema": "tidemark.residuals/1",\n  "source": {json.dumps(source)},\n  "groups": [\n    ' + ",\n    ".join(map(json.dumps, groups)) + "\n  ]\n}\n"


def time_residuals(times):
    """data/step_time_residuals.json: measured over estimated, by card.  Rows that are ranked alone have no error."""
    found = collections.defaultdict(list)
    for row in times["rows"]:
        if not row["ranked_alone"]:
            found[row["gpu"]].append(round(row["measured_seconds"] / row["estimated_seconds"], 3))
    cards = [{"card": card, "measured_over_estimated": sorted(ratios)} for card, ratios in sorted(found.items())]
    source = "validation/accuracy.py: step times of validation/step_times over what `tidemark plan` estimates"
    return "{\n" + f'  "schema": "tidemark.step-time-residuals/1",\n  "source": {json.dumps(source)},\n  "cards": [\n    ' + ",\n    ".join(map(json.dumps, cards)) + "\n  ]\n}\n"


def step_times(times):
    yield "## Step times\n"
    yield (
        "`tidemark plan` ranks by an estimate of the time of a step ([what it is made of](howto/plan.md#what-is-exact-and-what-is-not)); nothing in it was fitted to a row here: "
        "two figures of the host, which vTrain's rows are estimated with, were taken from rows of vTrain's that are not among these (`a100-megatron-deepspeed` in [`data/efficiency.json`](../data/efficiency.json)). "
        "*Rows*: [`validation/step_times`](../validation/step_times/README.md). Errors are |estimated − measured| / measured. Kendall's tau is over pairs of ways to train the same on as many GPUs. "
        "Rows whose source says which kernels ran are estimated with those (`kernels`: the first FlashAttention, an H100 at 500 W, the host under Megatron-DeepSpeed); a plan has those of today.\n"
    )
    rows = []
    for one in times["groups"]:
        tau = "" if one["kendall_tau"] is None else f"{one['kendall_tau']:.2f} of {one['pairs']:.0f} pairs"
        rows.append([f"{one['corpus']}, {one['gpu']}, {one['group']}", f"{one['n']:.0f}", percent(one["median"]), percent(one["p90"]), percent(one["signed_mean"]), tau])
    yield from table(["rows", "n", "median error", "p90", "signed mean", "tau"], rows)
    yield from table(["bar", "is", "state"], [[bar["bar"], bar["shown"], "met" if bar["met"] else f"**missed**: {bar['why']}"] for bar in times["bars"]])
    yield f"Left out, since the source does not say enough or the model knows no such kernels: {len(times['left_out'])} rows.\n"
    yield from table(["why", "rows"], collections.Counter(row["reason"] for row in times["left_out"]).most_common())


HEAD = ["", "n", "median error", "p90", "largest", "signed mean", "predicted too little", "out of memory foretold rightly"]


def claims(result):
    yield "## What is claimed\n"
    yield "Each bar stands in its corpus's `corpus.json`; `tidemark validate` exits with 1 while one is missed, and the tests assert the state of each.\n"
    rows = []
    for bar in result["bars"]:
        is_share = bar["statistic"] in ("median", "p90", "max", "mape", "signed_mean", "oom_agreement", "pef")
        shown = percent if is_share else (lambda value: "" if value is None else f"{value:g}")
        where = ", ".join(f"{field} {value}" for field, value in bar["where"].items()) or "all rows"
        limit = f"{'at most' if bar['at'] == 'most' else 'at least'} {shown(bar['limit'])}"
        rows.append([f"{bar['corpus']}: {where}", bar["engine"], f"{bar['statistic']} {limit}", shown(bar["value"]), "met" if bar["met"] else f"**missed**: {bar['why']}"])
    yield from table(["rows", "engine", "bar", "is", "state"], rows)


def corpora(result, tables):
    yield "## Evidence: trainings that others measured\n"
    left_out = collections.defaultdict(collections.Counter)
    for row in result["left_out"]:
        if "engine" not in row or row["engine"] is None:
            left_out[row["corpus"]][row["reason"]] += 1
    for corpus in result["corpora"]:
        name = corpus["name"]
        yield f"### {name}\n"
        yield f"{corpus['title']}. *Source*: {corpus['source']}. {corpus['rows']} rows; [what is known of them](../validation/{name}/README.md).\n"
        for by, title in tables:
            for engine in tables[by, title]["engines"]:
                rows = [statistics_row(", ".join(value for field, value in group["group"].items() if field != "corpus"), group["statistics"]) for group in engine["groups"] if group["group"]["corpus"] == name]
                if rows:
                    yield f"**{title}**, `tidemark {engine['engine']}`\n"
                    yield from table(HEAD, rows)
        if left_out[name]:
            yield f"Left out, since the source does not say enough or no engine can be asked: {sum(left_out[name].values())} rows.\n"
            yield from table(["why", "rows"], left_out[name].most_common())


def rivals(result):
    yield "## Others on the same rows\n"
    yield (
        "PEF, the probability that an estimate fails, and MCP, the memory that it saves, are xMem's: a run is repeated with no more memory than was estimated. That second "
        "round cannot be made here, so Tidemark's are bounds: a run of which it is not known counts as a failure. An exact peak has no room to spare.\n"
    )
    for engine in result["engines"]:
        for group in engine["groups"]:
            if not group.get("rivals"):
                continue
            yield f"**{', '.join(group['group'].values())}**\n"
            rows = [[f"tidemark {engine['engine']}", *rival_row(group["statistics"])]] + [[name, *rival_row(one)] for name, one in sorted(group["rivals"].items())]
            yield from table(["", "n", "median error", "p90", "signed mean", "PEF", "MCP"], rows)


def rival_row(one):
    at_most, at_least = ("≤ ", "≥ ") if one.get("not_known") else ("", "")
    pef = at_most + percent(one["pef"]) if one["pef"] is not None else ""
    mcp = at_least + gib(one["mcp_bytes"]) if one["mcp_bytes"] is not None else ""
    return [one["n"], percent(one["median"]), percent(one["p90"]), percent(one["signed_mean"]), pef, mcp]


def recordings():
    """Steps of real PyTorch on the virtual GPU, which ctest holds `predict` to."""
    count, on_several = 0, 0
    for path in sorted((ROOT / "tests/golden/steps").glob("*.txt.gz")):
        with gzip.open(path, "rt") as file:
            spec = json.loads(file.readline())["spec"]
        count += 1
        on_several += spec.get("gpus", 1) > 1
    return count, on_several


def engines():
    count, on_several = recordings()
    yield "## Evidence: the two engines against each other\n"
    yield (
        "`predict` is held to real PyTorch, DeepSpeed and transformers on the virtual GPU, allocation by allocation, in their order, without a tolerance: "
        f"{count} recorded trainings of small models, {on_several} of them of a rank among several GPUs (`ctest -R golden.steps`). "
        "Full-size models: [`validation/parallel`](../validation/parallel/README.md).\n"
    )


def not_known():
    yield "## What is not known\n"
    if not any((ROOT / "validation").glob("h200/results*.jsonl*")):
        yield "- No measurement of our own on a real GPU stands behind any figure here: `validation/measure` is ready to make them, and none was made yet."
    yield "- What a row's source does not say is not guessed: such rows are left out above, with the reason."
    yield ("- xMem's recordings of CNNs begin when the model is on the card. This was found in the published loops after a comparison ([why, and what it changes](../validation/xmem/README.md#when-the-measuring-began)).")
    yield (
        "- On Hopper the cuDNN of newer torches gives other workspaces through a handle than for a described card, for one convolution in five of those tried; the described card is what is asked ([convolutions](design/convolutions.md))."
    )
    yield ("- `device` includes the CUDA context, what libraries take and NCCL's communicators, which differ by driver, library versions and topology: [what is known of them](design/device.md).\n")


def page(times):
    tables = {(by, title): validated(by) for by, title in TABLES}
    result = tables[TABLES[0]]  # bars, corpora and what was left out are the same in all
    yield "# How accurate it is\n"
    yield "Written by `python validation/accuracy.py`, from the corpora in [`validation/`](../validation/README.md); a test keeps it current. Errors are |predicted − measured| / measured, in the metric that the source measured.\n"
    yield from claims(result)
    yield from engines()
    yield from corpora(result, tables)
    yield from rivals(validated("corpus,modality"))
    yield from step_times(times)
    yield from not_known()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the page or the residuals are not current")
    check = parser.parse_args().check
    times = timed()
    texts = {PAGE: "\n".join(page(times)).replace("\n\n\n", "\n\n").rstrip() + "\n", RESIDUALS: residuals(), TIMES: time_residuals(times)}
    current = True
    for path, text in texts.items():
        if not check:
            path.write_text(text)
            continue
        old = path.read_text() if path.exists() else ""
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), str(path.relative_to(ROOT)), "as it would be", n=1))
        current = current and old == text
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
