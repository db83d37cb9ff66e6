#!/usr/bin/env python3
"""Compares predictions with TRL's trainers of preferences: tiny models of several families, trained on the virtual GPU, allocation by allocation.

usage: preference_table.py --tidemark BINARY --python PYTHON --out FOLDER [--table docs/proved-preferences.md] [--only NAME ...]

PYTHON has torch, transformers, peft and trl.  OUT gets the recordings of tools/trace/record_steps.py; those that are there are not made again.  The exit code is 1 where a training differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "capture")]
SIZES = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 256, "pad_token_id": 0}
GROUPED = {**SIZES, "num_key_value_heads": 2}
FAMILIES = {
    "llama": GROUPED,
    "mistral": {**GROUPED, "sliding_window": None},
    "qwen2": GROUPED,
    "qwen3": {**GROUPED, "head_dim": 32},
    "gemma": {**GROUPED, "head_dim": 32},
    "gemma2": {**GROUPED, "head_dim": 32, "sliding_window": 4096, "num_hidden_layers": 4},
    "phi3": GROUPED,
    "gpt_neox": SIZES,
}
MODES = {
    "full": {"autocast": "bf16"},
    "lora": {"autocast": "bf16", "lora": {"r": 8, "alpha": 16, "target_modules": "all-linear"}},
    "checkpointed": {"autocast": "bf16", "checkpointing": "non_reentrant"},
}
GROUPS = {"max_completion_length": 24, "num_generations": 4, "beta": 0.04, "use_vllm": True}
LOOPS = {"dpo": {"loop": "dpo_trainer"}, "kto": {"loop": "kto_trainer", "batch": 4}, "reward": {"loop": "reward_trainer", "head": "sequence_classification"}, "grpo": {"loop": "grpo_trainer", "batch": 4, "grpo": GROUPS}}
PAGE = """# Trainings on preferences, against TRL

Made by `tools/trace/preference_table.py`: a tiny model of each family is trained for three steps by TRL's real trainer ({versions}) on a virtual H200, and predicted from the program of its family.
*equal* (with the number of allocations): the same allocations with the same frees between them, one by one. Weights are in bfloat16 under autocast.
The reference is a second model (*full*, *checkpointed*), or the model without its adapters (*lora*). RewardTrainer has none. GRPOTrainer has one (`beta` above 0), and its completions come from elsewhere.

{totals}

| family | {modes} |
| --- |{rules}
{rows}
"""


def cases():
    found = []
    for loop, of_loop in LOOPS.items():
        for family, sizes in FAMILIES.items():
            model = {"model_type": family, **sizes, **({"num_labels": 1} if loop == "reward" else {})}
            for mode, options in MODES.items():
                found.append({"name": f"{loop}.{family}.{mode}", "card": "h200", "spec": {"model": model, "batch": 2, "seq": 64, **of_loop, **options}})
    return found


def predicted(case, recording, tidemark):
    """A row of the table."""
    import gzip

    from prove import allocations, compared

    header, *lines = gzip.open(recording, "rt").read().splitlines()
    versions = json.loads(header)["versions"]
    question, ours, real = (recording.with_name(f"{case['name']}.{ending}") for ending in ("spec", "ours", "real"))
    question.write_text(json.dumps(case["spec"]))
    real.write_text("\n".join(lines) + "\n")
    command = [tidemark, "predict", "--spec", question, "--gpu", case["card"], "--torch", versions["torch"], "--transformers", versions["transformers"], "--quiet", "--events", ours]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode not in (0, 1):
        return {"failed": " ".join(asked.stderr.split())[:300], "versions": versions}
    return {**compared(allocations(real), allocations(ours)), "versions": versions}


def cell(row):
    if "failed" in row:
        return row["failed"].replace("|", "/")
    return f"equal, {row['of']}" if row["equal"] else f"differs at {row['at']} of {row['of']}"


def page(rows):
    columns = [(loop, mode) for loop in LOOPS for mode in MODES]
    versions = ", ".join(f"{name} {version}" for name, version in next(iter(rows.values()))["versions"].items())
    totals = "\n".join(f"- {loop}: {sum(rows[f'{loop}.{family}.{mode}'].get('equal', False) for family in FAMILIES for mode in MODES)} of {len(FAMILIES) * len(MODES)} equal." for loop in LOOPS)
    lines = [f"| {family} | " + " | ".join(cell(rows[f"{loop}.{family}.{mode}"]) for loop, mode in columns) + " |" for family in FAMILIES]
    return PAGE.format(versions=versions, totals=totals, modes=" | ".join(f"{loop} {mode}" for loop, mode in columns), rules=" --- |" * len(columns), rows="\n".join(lines))


def record(chosen, options):
    """The same command once more, on the virtual GPU."""
    missing = [case["name"] for case in chosen if not (options.out / f"{case['name']}.txt.gz").exists()]
    if not missing:
        return
    command = [options.tidemark, "run", "--gpu", "h200", "--event-order", "instant", "--steps", "100000", "--quiet", "--", options.python, __file__]
    subprocess.run([*command, "--tidemark", options.tidemark, "--out", str(options.out), "--inside", "--only", *missing], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in cases() if not options.only or case["name"] in options.only]
    if options.inside:
        import record_steps

        return record_steps.record_all(chosen, options.out, options.out, False, None)
    record(chosen, options)
    rows = {}
    for case in chosen:
        recording = options.out / f"{case['name']}.txt.gz"
        rows[case["name"]] = predicted(case, recording, options.tidemark) if recording.exists() else {"failed": "no training"}
        print(case["name"], cell(rows[case["name"]]), flush=True)
    if options.table:
        options.table.write_text(page(rows))
    return 0 if all(row.get("equal") for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
