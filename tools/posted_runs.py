#!/usr/bin/env python3
"""Trains posted files of TRL and of transformers' Trainer on the virtual GPU, and compares the peaks with their predictions.

usage: python tools/posted_runs.py --tidemark build/release/apps/cli/tidemark --python PYTHON --out FOLDER [--table docs/posted-runs.md] [--only FILE ...]

PYTHON has torch, transformers, peft and trl.  OUT keeps each training and its report; a training that is there is not run again.
The exit code is 1 where a peak differs.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import shlex
import subprocess
import sys

import yaml

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "capture"), str(HERE / "trace")]
import flash_attention
import posted_files
from prove import allocations, compared

STEPS = 2
LAYERS = 2
TOKENS = 2300  # of a document: more than the longest `max_length`
DATA_KEYS = ("dataset", "push_to_hub", "hub_", "report_to", "eval_", "do_eval", "test_split_size", "per_device_eval", "model_revision", "save_", "log_level", "output_dir")
RENAMED = {"torch_dtype": "dtype", "max_seq_length": "max_length"}
TRAINED_BY_TRL = {"sft": "text", "dpo": "preference", "kto": "label", "reward": "preference"}
PAGE = """# Posted files, run by their trainers

`tools/posted_runs.py` runs the trainer of posted files of [TRL and transformers](posted-files.md) on
the virtual GPU, and asks `tidemark predict --trainer FILE`. {equal} of {count} files have the same
allocated and reserved peak, to the byte.

{versions}.

A run trains the model of the file with {layers} layers, for {steps} steps. Each sample has as many tokens
as the file allows, since a prediction assumes so. Keys that name data, hubs and logs are replaced.
FlashAttention 2 is the copy that torch has (`tools/trace/flash_attention.py`). Columns are bytes.
*`--nearest`*: a key of the file is unsupported, and the prediction takes its nearest value.

| file | GPU | allocated | reserved | predicted allocated | predicted reserved | allocations |
| --- | --- | ---: | ---: | ---: | ---: | --- |
{rows}

## Differences

- `trl/sft_full.sh`: the batch of a packed training is one row with positions, and FlashAttention's
  scratch memory is that of one row. DeepSpeed's `zero.Init` makes weights in fp32 and casts them.
- `trl/sft_lora.sh`: a mask keeps packed samples apart, which is unsupported.
- `trl/zephyr_full.yaml`: 1,024 bytes fewer are predicted, of 12.9 GB. The cause was not traced.
- `trl/zephyr_dpo_qlora.yaml`: SDPA runs cuDNN's kernel on an H100. Its backward pass has one block of
  scratch memory, and FlashAttention four smaller ones.

Where peaks are equal, allocations that differ are logs, the mask that SDPA checks, or the order of
loading, as far as they were traced.
"""
PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "deepspeed")


def entries():
    return [entry for entry in posted_files.index() if entry["file"].startswith(("trl/", "trainer/"))]


def words_of(path):
    """(the launcher's words, the program, its options) of a command in a .sh."""
    words = shlex.split(path.read_text().replace("\\\n", " "))
    program = next(number for number, word in enumerate(words) if word.endswith(".py"))
    return words[:program], words[program], words[program + 1 :]


def options_of(path):
    """{option: value} of a command or a file; an option without a value is "true"."""
    if path.suffix == ".json":
        return json.loads(path.read_text())
    if path.suffix != ".sh":
        return {RENAMED.get(key, key): value for key, value in yaml.safe_load(path.read_text()).items()}
    found, words = {}, words_of(path)[2]
    for number, word in enumerate(words):
        if word.startswith("--"):
            name, equals, value = word.removeprefix("--").partition("=")
            follows = number + 1 < len(words) and not words[number + 1].startswith("--")
            found[name] = value if equals else words[number + 1] if follows else "true"
    return found


def asked(path):
    """The options without those that name data, hubs and logs."""
    return {key: value for key, value in options_of(path).items() if not key.startswith(DATA_KEYS)}


def method_of(path):
    if path.suffix == ".sh":
        return pathlib.Path(words_of(path)[1]).stem
    return "dpo" if "beta" in options_of(path) else "sft"


# --- what a training takes


def make_model(entry, folder):
    """The configuration with few layers, and a tokenizer of as few words as any model has."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    config = {**posted_files.configs()[entry["model"]]}
    config["n_layer" if "n_layer" in config else "num_hidden_layers"] = LAYERS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "</s>": 1, "<|im_end|>": 2, "w": 3}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["</s>", "<|im_end|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "pad_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))


def make_weights(folder):
    """A checkpoint of zeros that takes no room on the disk, for DeepSpeed, which reads one by parts."""
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    tied, about, end = model.all_tied_weights_keys, {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in model.state_dict().items():
        if name not in tied:
            about[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [end, end + 2 * tensor.numel()]}
            end += 2 * tensor.numel()
    header = json.dumps(about).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + end)


def make_data(kind, folder):
    """No prompt has a token: a prediction takes each token for one of a completion."""
    words = " ".join(["w"] * TOKENS)
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        "text": lambda number: {"text": words},
        "preference": lambda number: {"prompt": "", "chosen": words, "rejected": words},
        "label": lambda number: {"prompt": "", "completion": words, "label": number % 2 == 0},
    }
    with (folder / "train.jsonl").open("w") as file:
        for number in range(512):
            file.write(json.dumps(rows[kind](number)) + "\n")


def by_trl(entry, path, folder, options):
    """`python -m trl.scripts.METHOD` with the options of the file."""
    method = method_of(path)
    make_data(TRAINED_BY_TRL[method], folder / "data")
    options.update(model_name_or_path=str(folder / "model"), dataset_name=str(folder / "data"), save_strategy="no")
    if method == "kto":
        options["train_sampling_strategy"] = "sequential"
    return ["-m", f"trl.scripts.{method}"]


def by_trainer(entry, path, folder, options):
    options.update(model_name_or_path=str(folder / "model"), save_strategy="no")
    if "deepspeed" in options:
        options["deepspeed"] = str(path.parent / options["deepspeed"])
    return [HERE / "posted_trainer.py"]


def launched(entry, path, python):
    """The words that start the program, by accelerate's file, torchrun or Python, and the count of GPUs."""
    at = pathlib.Path(python).parent
    launcher = words_of(path)[0] if path.suffix == ".sh" else []
    file = entry.get("accelerate") or next((f"{path.parent.name}/{word}" for word in launcher if word.endswith(".yaml")), None)
    if file:
        file = posted_files.POSTED / file
        return [at / "accelerate", "launch", "--config_file", file], yaml.safe_load(file.read_text())["num_processes"]
    asked_for = [word.partition("=")[2] or launcher[number + 1] for number, word in enumerate(launcher) if word.startswith("--nproc_per_node")]
    count = entry["gpu"].rpartition("x")[2]
    gpus = int(asked_for[0] if asked_for else count if count.isdigit() else 1)
    return ([at / "torchrun", "--nproc_per_node", gpus] if gpus > 1 else [pathlib.Path(python)]), gpus


def train(entry, folder, tidemark, python):
    path = posted_files.POSTED / entry["file"]
    make_model(entry, folder / "model")
    options = asked(path)
    program = (by_trl if path.parent.name == "trl" else by_trainer)(entry, path, folder, options)
    options.update(output_dir=str(folder / "output"), report_to="none", eval_strategy="no")
    (folder / "options.yaml").write_text(yaml.safe_dump(options))
    start, gpus = launched(entry, path, python)
    card, times, count = entry["gpu"].rpartition("x")
    card = card if times and count.isdigit() else entry["gpu"]
    if start[0].name == "accelerate":
        made = [tidemark, "run", "--gpu", card, "--keep-going", "--quiet", "--", python, __file__, "--tidemark", tidemark, "--out", folder, "--weights", folder / "model"]
        subprocess.run([str(word) for word in made], check=False, stdin=subprocess.DEVNULL)  # torch is imported without CUDA's libraries there alone
    words = [tidemark, "run", "--gpu", card, *([] if start[0].name == "accelerate" else ["--fake-weights"]), "--steps", STEPS, "--event-order", "instant", "--json", folder / "run.json", "--quiet"]
    words += ["--gpus", gpus] if gpus > 1 else []
    words += ["--", *start, *program, *(["--config", folder / "options.yaml"] if path.parent.name == "trl" else [word for name, value in options.items() for word in (f"--{name}", value)])]
    packages = flash_attention.installed_in(folder / "packages")
    environment = {
        **os.environ,
        "PYTHONPATH": str(packages),
        "PATH": f"{pathlib.Path(python).parent}:{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
        "HF_DEACTIVATE_ASYNC_LOAD": "1",
        "HF_HOME": str(folder / "cache"),
        "TIDEMARK_EVENTS": str(folder / "run.events"),
    }
    with (folder / "run.log").open("w") as log:
        return subprocess.run([str(word) for word in words], env=environment, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL).returncode


# --- what is compared


def predict(entry, folder, tidemark):
    words = posted_files.command(entry, folder / "model", "--json", folder / "predicted.json", "--events", folder / "predicted.events", "--steps", STEPS, "--quiet", "--nearest")
    environment = {**os.environ, "VIRTUAL_ENV": str(pathlib.Path(sys.executable).parent.parent)}
    done = subprocess.run([str(word) for word in [tidemark, *words]], env=environment, capture_output=True, text=True)
    return "" if done.returncode in (0, 1) else " ".join(done.stderr.split())


def peak_of(report):
    peak = json.loads(report.read_text())["peak"]
    return [peak["allocated_bytes"], peak["reserved_bytes"]]


def takes_nearest(report):
    """Whether a key of the file is unsupported, and its nearest value answers."""
    return any("; taken: " in row["what"] for row in json.loads(report.read_text())["assumptions"])


def row_of(entry, folder, tidemark, python):
    if not (folder / "run.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        train(entry, folder, tidemark, python)
    if not (folder / "run.json").exists() or not (folder / "run.json").stat().st_size:
        return {"failed": " ".join((folder / "run.log").read_text().split())[-300:]}
    if failed := predict(entry, folder, tidemark):
        return {"run": peak_of(folder / "run.json"), "failed": failed[:300]}
    events = compared(allocations(folder / "run.events"), allocations(folder / "predicted.events"))
    return {"run": peak_of(folder / "run.json"), "predicted": peak_of(folder / "predicted.json"), "events": events, "nearest": takes_nearest(folder / "predicted.json")}


def cells(row):
    if "failed" in row:
        return [*row.get("run", ["", ""]), row["failed"].replace("|", "/"), "", ""]
    events = row["events"]
    text = f"equal, {events['of']}" if events["equal"] else f"equal up to {events['at']} of {events['of']}"
    return [*row["run"], *row["predicted"], text + (", of `--nearest`" if row.get("nearest") else "")]


def page(rows):
    versions = "Versions: " + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    gpus = {entry["file"]: entry["gpu"] for entry in entries()}
    lines = [f"| {file} | {gpus[file]} | " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells(row)) + " |" for file, row in rows.items()]
    return PAGE.format(versions=versions, equal=sum(map(is_equal, rows.values())), count=len(rows), layers=LAYERS, steps=STEPS, rows="\n".join(lines))


def is_equal(row):
    return "predicted" in row and row["run"] == row["predicted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", required=True, type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--weights", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.weights:
        return make_weights(options.weights)
    rows = {}
    for entry in entries():
        if options.only and entry["file"] not in options.only:
            continue
        rows[entry["file"]] = row = row_of(entry, options.out.resolve() / entry["file"].replace("/", "."), options.tidemark.resolve(), options.python)
        print(entry["file"], json.dumps(row), flush=True)
    if options.table:
        options.table.write_text(page(rows))
    return 0 if all(is_equal(row) for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
