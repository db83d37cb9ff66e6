#!/usr/bin/env python3
"""Compares the programs of families that Tidemark comes with, bound to a configuration, with programs captured at exactly that one.

usage: python tools/capture/compare.py [MODEL_TYPE ...] [--table docs/shipped-families.md]

The configuration is transformers' default of the model type, with eight layers at most.  Both programs are predicted (batch 2, 160 tokens,
bf16, AdamW); equal are all allocations and frees, in their order.  TIDEMARK_BIN is the command; this Python has torch and transformers.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark")
MOST_LAYERS = 8
ASKED = ["--batch", "2", "--seq", "160", "--gpu", "h200", "--memory", "4000GB", "--torch", "2.11.0", "--offline", "--quiet"]
DEFAULTS = """
import json, sys
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
for model_type in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{model_type}.json", "w") as file:
        json.dump({**CONFIG_MAPPING[model_type]().to_dict(), "model_type": model_type}, file, default=str)
"""


def defaults(folder, model_types):
    """Writes each type's default configuration; transformers imports torch, which needs NVIDIA's libraries or the virtual GPU."""
    subprocess.run([TIDEMARK, "run", "--gpu", "h200", "--quiet", "--", sys.executable, "-c", DEFAULTS, folder, *model_types], capture_output=True)


def with_few_layers(config):
    for key in ("num_hidden_layers", "n_layer", "encoder_layers", "decoder_layers", "num_layers"):
        if isinstance(config.get(key), int):
            config[key] = min(config[key], MOST_LAYERS)
    if isinstance(config.get("layer_types"), list):
        config["layer_types"] = config["layer_types"][: config["num_hidden_layers"]]
    return config


def predicted(folder, *words):
    """The events of a prediction; raises RuntimeError with what was said instead."""
    events = folder / "events.txt"
    events.unlink(missing_ok=True)
    done = subprocess.run([TIDEMARK, "predict", *words, *ASKED, "--events", events], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    return [line.split(" ")[0] for line in events.read_text().splitlines()]


def compared(program, folder):
    """What the table says of a family."""
    config, exact = folder / f"{program.name}.json", folder / f"{program.name}.program"
    trained = re.search(r"^class (\S+)$", program.read_text(), re.MULTILINE)[1]
    config.write_text(json.dumps({**with_few_layers(json.loads(config.read_text())), "architectures": [trained]}))
    captured = subprocess.run([sys.executable, "-m", "tidemark.capture", config, "--batch", "2", "--seq", "160", "-o", exact], env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TIDEMARK_BIN": str(TIDEMARK)}, capture_output=True, text=True)
    if captured.returncode:
        return f"not captured: {captured.stderr.strip().splitlines()[-1]}"
    try:
        ours, theirs = predicted(folder, config, "--program", program), predicted(folder, "--program", exact)
    except RuntimeError as error:
        return str(error).replace(str(ROOT) + "/", "").replace(str(folder) + "/", "")
    if ours == theirs:
        return f"equal, {len(ours)}"
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"differs from event {first} of {len(theirs)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--table", type=pathlib.Path)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        programs = [path for path in sorted((ROOT / "data/programs").glob("*/*")) if not asked.model_types or path.name in asked.model_types]
        defaults(folder, [path.name for path in programs])
        for path in programs:
            rows.append(f"| {path.name} | {path.parent.name} | {compared(path, pathlib.Path(folder))} |")
            print(rows[-1], flush=True)
    if asked.table:
        equal = sum("| equal" in row for row in rows)
        head = f"# Families that Tidemark comes with\n\nMade by `tools/capture/compare.py`: the program of each family, bound to transformers' default configuration with {MOST_LAYERS} layers at most, against a\nprogram captured at exactly that configuration. *equal* (with the number of events): the same allocations and frees, one by one. Batch 2, 160 tokens,\nbf16, AdamW.\n\nEqual: {equal} of {len(rows)}.\n\n"
        asked.table.write_text(head + "| model type | transformers | |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
