#!/usr/bin/env python3
"""Compares the programs of families that Tidemark comes with, bound to a configuration, with programs captured at exactly that one.

usage: python tools/capture/compare.py [MODEL_TYPE ...] [--table docs/shipped-families.md]

The configuration is transformers' default of the model type, with eight layers at most, and with equal sizes where a program holds for those.  Both programs are predicted (batch 2, 160 tokens,
bf16, AdamW); equal are all allocations and frees, in their order.  TIDEMARK_BIN is the command; this Python has torch and transformers, and the
programs are those of its release of transformers.  The table's rows of others stay as they are.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
TIDEMARK = os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark")
MOST_LAYERS = 8
ASKED = ["--batch", "2", "--seq", "160", "--gpu", "h200", "--memory", "4000GB", "--torch", "2.11.0", "--offline", "--quiet"]
SECONDS = 300


# --- on the virtual GPU


def configuration(program):
    from tidemark.capture.keys import at, changed
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    text = program.read_text()
    trained = re.search(r"^class (\S+)$", text, re.MULTILINE)[1]
    config = with_few_layers({**CONFIG_MAPPING[program.name]().to_dict(), "model_type": program.name, "architectures": [trained]})
    for one, other in re.findall(r"^holds ([a-z][\w.]*) == ([a-z][\w.]*)$", text, re.MULTILINE):
        if isinstance(at(config, one), int) and isinstance(at(config, other), int):
            config = changed(config, {one: at(config, other)})
    if config.get("is_encoder_decoder"):   # without which there are no labels to shift
        config |= {key: 0 for key in ("decoder_start_token_id", "pad_token_id") if config.get(key) is None}
    return json.dumps(config, default=str)


def capture(program, folder):
    """The configuration, and the program captured at exactly that."""
    from tidemark.capture import inside

    config = folder / f"{program.name}.json"
    config.write_text(configuration(program))
    request = {"source": str(config), "batch": 2, "seq": 160, "images": 0, "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False}
    (folder / f"{program.name}.program").write_text(inside.run(request))


def captured_all(programs, folder):
    """Each in a child, so that libraries are imported once."""
    import transformers

    transformers.logging.set_verbosity_error()
    for name in ("torch._dynamo", "transformers.models.auto.modeling_auto", "transformers.modeling_utils"):
        __import__(name)
    for program in programs:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            try:
                capture(program, folder)
            except BaseException as error:   # whatever a model of such a configuration raises
                (folder / f"{program.name}.failed").write_text(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            os._exit(0)
        os.waitpid(child, 0)


# --- beside it


def on_virtual_gpu(model_types, folder):
    environment = {**os.environ, "PYTORCH_JIT": "0", "TORCHDYNAMO_DISABLE": "1"}
    command = [TIDEMARK, "run", "--gpu", "h100-80gb", "--memory", "1000TB", "--quiet", "--keep-going", "--", sys.executable, __file__, *model_types, "--on-virtual-gpu", folder]
    subprocess.run(list(map(str, command)), env=environment, capture_output=True)


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
    config, exact, failed = (folder / f"{program.name}.{kind}" for kind in ("json", "program", "failed"))
    if not exact.exists():
        return f"not captured: {failed.read_text() if failed.exists() else 'the process ended'}"
    try:
        ours, theirs = predicted(folder, config, "--program", program), predicted(folder, "--program", exact)
    except RuntimeError as error:
        return str(error).replace(str(ROOT) + "/", "").replace(str(folder) + "/", "")
    if ours == theirs:
        return f"equal, {len(ours)}"
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"differs from event {first} of {len(theirs)}"


def with_others(table, rows):
    """The rows of this run, and those of the table that are of other programs, in order."""
    known = {}
    for line in table.read_text().splitlines() if table.exists() else []:
        cells = re.match(r"\| (\S+) \| (\d\S*) \| ", line)
        if cells and (ROOT / "data/programs" / cells[2] / cells[1]).exists():
            known[cells[1], cells[2]] = line
    known.update(rows)
    return [known[name] for name in sorted(known)]


def write(table, rows):
    equal = sum("| equal" in row for row in rows)
    head = f"# Families that Tidemark comes with\n\nMade by `tools/capture/compare.py`: the program of each family, bound to transformers' default configuration with {MOST_LAYERS} layers at most (and equal\nsizes where a program holds for those alone), against a program captured at exactly that configuration. *equal* (with the number of events): the same allocations and frees, one by one. Batch 2, 160 tokens,\nbf16, AdamW.\n\nEqual: {equal} of {len(rows)}.\n\n"
    table.write_text(head + "| model type | transformers | |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--on-virtual-gpu", type=pathlib.Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    release = importlib.metadata.version("transformers")
    programs = [path for path in sorted((ROOT / "data/programs" / release).glob("*")) if not asked.model_types or path.name in asked.model_types]
    if asked.on_virtual_gpu:
        return captured_all(programs, asked.on_virtual_gpu)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        on_virtual_gpu([path.name for path in programs], folder)
        for path in programs:
            rows[path.name, release] = f"| {path.name} | {release} | {compared(path, pathlib.Path(folder))} |"
            print(rows[path.name, release], flush=True)
    if asked.table:
        write(asked.table, with_others(asked.table, rows))


if __name__ == "__main__":
    main()
