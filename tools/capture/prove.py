#!/usr/bin/env python3
"""Proves captured programs: trains a tiny model of each model type on the virtual GPU, predicts the same from its program, and compares the allocations one by one.

usage: python tools/capture/prove.py --tidemark TIDEMARK --out FOLDER [--trained | --shipped] [--seconds N] [MODEL_TYPE ...] [--modes MODE ...]
       python tools/capture/prove.py --out FOLDER --table docs/proved-models.md      (its rows of others stay as they are)
       python tools/capture/prove.py --out FOLDER --shipped --table docs/proved-families.md [--note]

Its interpreter has torch, transformers and peft.  FOLDER gets TYPE.MODE.json, what was found, beside the program and both lists of events.  Without model types those of
named.txt are proved.  With --trained what FOLDER has is predicted once more, and nothing is captured or trained.  With --shipped the programs are those that Tidemark comes with, of this Python's transformers, bound to transformers' default configuration with few layers (compare.py).  The real training is the loop of tools/trace/record_steps.py; captures and trainings are forked from one process, so that libraries are imported once.
"""

import argparse
import collections
import functools
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trace"), str(HERE.parents[1] / "python")]
SIZES = {"batch": 2, "seq": 96, "images": 1}
MEMORY = "4000GB"  # as compare.py has it: models of any size fit
SECONDS = 240  # a capture, or a training, unless --seconds says otherwise
PARTS = ("visual", "vision", "audio", "encoder", "tower", "embed", "wte", "embd")  # the first that a model has is frozen
Mode = collections.namedtuple("Mode", "spec captured")
MODES = {
    "full": Mode({}, {}),
    "frozen": Mode({"freeze": PARTS}, {}),
    "lora": Mode({"lora": {"r": 8, "alpha": 16, "target_modules": "all-linear"}}, {}),
    "checkpointed": Mode({"checkpointing": "non_reentrant"}, {"use_cache": False}),
    "autocast": Mode({"dtype": "fp32", "autocast": "bf16"}, {"autocast": "other"}),
    "autocast_own": Mode({"autocast": "bf16"}, {"autocast": "own"}),  # of weights that are bf16 themselves
    "eager": Mode({"attn": "eager"}, {"attn": "eager"}),
    # Models with images, trained on text alone.
    "text": Mode({"images": 0}, {"images": 0}),
    "text_lora": Mode({"images": 0, "lora": {"r": 8, "alpha": 16, "target_modules": "all-linear"}}, {"images": 0}),
    # Encoder-decoder models whose labels are shorter, or longer, than the source.
    "target": Mode({"target_seq": 61}, {"target_seq": 61}),
    "target_checkpointed": Mode({"target_seq": 130, "checkpointing": "non_reentrant"}, {"target_seq": 130, "use_cache": False}),
}
OF_SOME = ("text", "text_lora", "target", "target_checkpointed")  # families, which have to be named


def named():
    return (HERE / "named.txt").read_text().split()


# --- on the virtual GPU


def source_of(model_type, mode, folder):
    """The capturer's own: it makes the model, and what its forward is called with."""
    import transformers
    from tidemark.capture import models
    from tidemark.capture.batches import heard
    from tiny import tiny

    config = config_of(model_type, folder)
    if not config.exists():
        config.write_text(json.dumps(tiny(model_type, json.loads((HERE / "overrides.json").read_text()).get(model_type, {}))))
    request = {"source": str(config), "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False, **SIZES, **MODES[mode].captured}
    request["seq"] = heard(transformers.AutoConfig.for_model(**json.loads(config.read_text())), SIZES["seq"])
    return request, models.find(request)


def capture(model_type, mode, folder):
    """In a text that has room for its image."""
    from tidemark.capture import inside
    from tidemark.capture.mistakes import with_room

    request = source_of(model_type, mode, folder)[0]
    program_of(model_type, mode, folder).write_text(with_room(lambda more: inside.run({**request, "seq": request["seq"] + more})))


def take_shipped(model_type, mode, folder):
    """The program of the family, and the configuration that compare.py binds it to, with images as published models take them (proved.json): cuDNN's scratch memory is known for those."""
    from compare import configuration, texts_of
    from tiny import merged

    shipped = nearest(model_type, importlib.metadata.version("transformers"))
    keys = json.loads(configuration(model_type, 0, texts_of(shipped)[0]))
    proved = json.loads((HERE / "proved.json").read_text()).get(model_type, {})
    config_of(model_type, folder).write_text(json.dumps(merged(keys, proved)))
    program_of(model_type, mode, folder).write_text(shipped.read_text())


def nearest(model_type, release):
    """The program of this release, else of the nearest before it, else of the oldest; those with the same first number go before others (src/base/release.h, nearest_release)."""

    def number(text):
        return [int(part) for part in text.split(".")][:2]

    having = {tuple(number(path.parent.name)): path for path in (HERE.parents[1] / "data/programs").glob(f"*/{model_type}")}
    wanted = tuple(number(release))
    near = [one for one in having if one[0] == wanted[0]] or list(having)
    return having[max((one for one in near if one <= wanted), default=min(near))]


def make_batch(model_type, mode, folder):
    """Before the training, on a device of its own: a model is asked how many tokens its images are, which takes minutes on the host.  In a text that has room for them."""
    import record_steps
    import torch
    from tidemark.capture.batches import Shape, heard
    from tidemark.capture.mistakes import with_room

    source = source_of(model_type, mode, folder)[1]
    sizes = sizes_of(program_of(model_type, mode, folder))
    model = source.make(getattr(torch, record_steps.DTYPES[MODES[mode].spec.get("dtype", "bf16")]), "cuda")

    def made(more):
        seq = heard(model.config, sizes["seq"] + more)
        batch = source.batch(model, Shape(sizes["batch"], seq, MODES[mode].spec.get("images", sizes["images"]), target=MODES[mode].spec.get("target_seq", 0)), "cuda")
        return {"seq": seq, "rows": {name: value.cpu() if torch.is_tensor(value) else value for name, value in in_order(batch).items()}}

    torch.save(with_room(made), batch_file(model_type, mode, folder))


def train(model_type, mode, folder):
    import record_steps
    import torch

    source = source_of(model_type, mode, folder)[1]
    sizes = sizes_of(program_of(model_type, mode, folder))
    spec = {**sizes, "steps": 2, "use_cache": "auto", **MODES[mode].spec}
    model = source.make(getattr(torch, record_steps.DTYPES[spec.get("dtype", "bf16")]), "cpu")
    batch = torch.load(batch_file(model_type, mode, folder))
    spec["seq"], rows = batch["seq"], {name: value for name, value in batch["rows"].items() if torch.is_tensor(value)}
    if len(rows) < len(batch["rows"]):  # what is told is no data that is loaded: return_loss
        model.forward = functools.partial(model.forward, **{name: value for name, value in batch["rows"].items() if name not in rows})
    model.to("cuda")
    if "freeze" in spec:
        names = [name for name, _ in model.named_parameters()]
        spec["freeze"] = [next(part for part in (*spec["freeze"], "0") if any(part in name for name in names))]
        if hasattr(model, "freeze_feature_encoder"):  # of what hears sounds as they are, which is told so
            spec["freeze"] = ["feature_extractor"]
            model.freeze_feature_encoder()
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(parameter.requires_grad and spec["freeze"][0] not in name)
    has_cache = hasattr(model.config.get_text_config(), "use_cache")
    if "checkpointing" in spec:
        model = record_steps.checkpointed(model, spec)
        if not has_cache:
            del model.config.use_cache
    if "lora" in spec and any(name.endswith("experts.gate_up_proj") for name, _ in model.named_parameters()):
        spec["lora"] = {**spec["lora"], "target_modules": attention_projections(model)}
    elif "lora" in spec and not takes_adapters_everywhere(model):
        spec["lora"] = {**spec["lora"], "target_modules": projections_but_the_last(model)}
    model = record_steps.with_adapters(model, spec)
    grid = grid_of(rows)
    if grid:
        spec["image_size"] = "x".join(str(side * model.config.vision_config.patch_size) for side in grid)
    (folder / f"{model_type}.{mode}.spec").write_text(json.dumps(spec))
    record_steps.loop(model, rows, spec)


def grid_of(rows):
    """Patches down and across, of images of any size."""
    if "image_grid_thw" in rows:
        return rows["image_grid_thw"][0, 1:].tolist()
    if "image_position_ids" in rows:  # of each patch, across first
        return (rows["image_position_ids"][0].amax(0) + 1).tolist()[::-1]
    if "spatial_shapes" in rows:
        return rows["spatial_shapes"][0].tolist()
    return None


def attention_projections(model):
    """What is adapted where all linear modules would be experts' parameters too."""
    import torch

    called = [(name.rpartition(".")[2], name, module) for name, module in model.named_modules()]
    others = {last for last, _, module in called if not isinstance(module, torch.nn.Linear)}  # a convolution may be called so, too
    return sorted({last for last, name, module in called if isinstance(module, torch.nn.Linear) and "attn" in name} - others)


def takes_adapters_everywhere(model):
    """Kernels of state spaces are given what a layer of theirs is last projected by, and PEFT adapts that in none of these models (0.19: _check_lora_target_modules_mamba)."""
    import peft
    from peft.tuners.tuners_utils import _check_lora_target_modules_mamba

    try:
        _check_lora_target_modules_mamba(peft.LoraConfig(), model, "out_proj")
    except ValueError:
        return False
    return True


def projections_but_the_last(model):
    """What is adapted of them: all linear modules but that, and the head."""
    import torch

    head = model.get_output_embeddings()
    return sorted({name.rpartition(".")[2] for name, module in model.named_modules() if isinstance(module, torch.nn.Linear) and module is not head} - {"out_proj"})


def in_order(batch):
    """As predictions load a batch: what they know by name, then the rest."""
    first = ("input_ids", "attention_mask", "labels", "pixel_values", "image_grid_thw", "mm_token_type_ids") if "input_ids" in batch else ("pixel_values", "labels")
    return {name: batch[name] for name in (*first, *(name for name in batch if name not in first)) if name in batch}


def forked(work, *arguments, log, seconds):
    """Runs in a child, which ends with the text of an exception, or with None."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            work(*arguments)
        except BaseException as error:
            log.write_text(traceback.format_exc())
            log.with_suffix(".error").write_text(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            os._exit(1)
        os._exit(0)  # the report is written (inside/leaving.py)
    if os.waitpid(child, 0)[1] == 0:
        return None
    error = log.with_suffix(".error")
    return error.read_text() if error.exists() else "the process ended"


def on_virtual_gpu(folder, asked, seconds, is_shipped):
    import record_steps
    import transformers

    transformers.logging.set_verbosity_error()
    record_steps.without_interval()
    for name in ("torch._dynamo", "torch.distributed.fsdp", "torch.distributed.tensor", "transformers.models.auto.modeling_auto", "transformers.modeling_utils"):
        __import__(name)
    for model_type, mode in asked:
        why = folder / f"{model_type}.{mode}.failed"
        why.unlink(missing_ok=True)
        log = folder / f"{model_type}.{mode}.log"
        program = program_of(model_type, mode, folder)
        if is_shipped:
            take_shipped(model_type, mode, folder)
        failed = None if program.exists() else forked(capture, model_type, mode, folder, log=log, seconds=seconds)
        if failed:
            why.write_text(f"capture: {failed}")
            continue
        failed = forked(make_batch, model_type, mode, folder, log=log, seconds=seconds)
        if failed:
            why.write_text(f"batch: {failed}")
            continue
        os.environ["TIDEMARK_EVENTS"] = str(folder / f"{model_type}.{mode}.real")
        failed = forked(train, model_type, mode, folder, log=log, seconds=seconds)
        del os.environ["TIDEMARK_EVENTS"]
        if failed:
            why.write_text(f"training: {failed}")


# --- beside it


def config_of(model_type, folder):
    return folder / f"{model_type}.config.json"


def is_of_family(program):
    return "\nmain " in program.read_text().partition("\nmodules ")[0]


def sizes_of(program):
    """A family's images may be as large as published models have them; a text that was captured has room for its image."""
    seen = re.search(r"^sizes .*\bS=(\d+)", program.read_text(), re.MULTILINE) if takes_images(program) else None
    return {**SIZES, **({"seq": 2048 if is_of_family(program) else int(seen[1])} if seen else {})}


def takes_images(program):
    return "images" in named_sizes(program)


def named_sizes(program):
    return next((line for line in program.read_text().splitlines() if line.startswith("sizes ")), "")


def program_of(model_type, mode, folder):
    """Modes that are captured alike share one."""
    like = next(other for other in MODES if MODES[other].captured == MODES[mode].captured)
    return folder / f"{model_type}.{like}.program"


def batch_file(model_type, mode, folder):
    return folder / f"{model_type}.{mode}.batch"


def allocations(path):
    """(bytes, what was freed before it, the line) of each."""
    found, freed = [], []
    for line in path.read_text().splitlines():
        if line[0] == "-":
            freed.append(int(line.split(" ")[0]))
        elif line[0] == "+":
            found.append((int(line.split(" ")[0]), sorted(freed), line))
            freed = []
    return found


def compared(real, ours):
    """What the table tells of a model type in a mode."""
    for number, (a, b) in enumerate(zip(real, ours)):
        if a[:2] != b[:2]:
            return {"equal": False, "at": number, "of": len(real), "real": [a[2], a[1]], "predicted": [b[2], b[1]]}
    if len(real) != len(ours):
        return {"equal": False, "at": min(len(real), len(ours)), "of": len(real), "real": [f"{len(real)} allocations", []], "predicted": [f"{len(ours)} allocations", []]}
    return {"equal": True, "of": len(real)}


def proved(model_type, mode, folder, tidemark):
    why = folder / f"{model_type}.{mode}.failed"
    row = {"failed": why.read_text()} if why.exists() else predicted(model_type, mode, folder, tidemark)
    (folder / f"{model_type}.{mode}.json").write_text(json.dumps(row))
    return row


def predicted(model_type, mode, folder, tidemark):
    spec = json.loads((folder / f"{model_type}.{mode}.spec").read_text())
    program = program_of(model_type, mode, folder)
    if not takes_images(program):
        del spec["images"]
    if " S=" not in named_sizes(program):  # images alone
        del spec["seq"]
    question, ours = folder / f"{model_type}.{mode}.ask", folder / f"{model_type}.{mode}.ours"
    question.write_text(json.dumps(spec))
    config = [str(config_of(model_type, folder)), "--transformers", importlib.metadata.version("transformers")] if is_of_family(program) else []
    asked = subprocess.run(
        [tidemark, "predict", *config, "--program", str(program), "--spec", str(question), "--gpu", "h200", "--memory", MEMORY, "--torch", importlib.metadata.version("torch").partition("+")[0], "--quiet", "--events", str(ours)],
        capture_output=True,
        text=True,
    )
    if asked.returncode not in (0, 1):
        return {"failed": "prediction: " + " ".join(asked.stderr.replace(str(folder) + "/", "").removeprefix("tidemark: ").split())[:300]}
    return compared(allocations(folder / f"{model_type}.{mode}.real"), allocations(ours))


def told(row):
    if "told" in row:
        return row["told"]
    if "failed" in row:
        return row["failed"]
    if row["equal"]:
        return "equal"
    return f"differs at {row['at']} of {row['of']}: {row['real'][0]}, not {row['predicted'][0]}"


def known_rows(page):
    """What the page says already: {model type: {mode: row}}."""
    lines = page.read_text().splitlines() if page.exists() else []
    notes = dict(re.match(r"(\d+)\. .*?, \w+: (.*)", line).groups() for line in lines if re.match(r"\d+\. ", line))
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    rows = collections.defaultdict(dict)
    for name, *cells in table[2:]:
        for mode, cell in zip(table[0][1:], cells):
            if cell:
                rows[name][mode] = {"equal": True, "of": int(cell.removeprefix("equal, "))} if cell[0] != "[" else {"told": notes[cell.strip("[]")]}
    return rows


CAPTURED = [
    "# Model types whose programs are proved",
    "",
    "Made by `tools/capture/prove.py`: a tiny model of each is trained by real PyTorch (2.11.0 with transformers 5.17.0, or 2.15.0 with 5.23.0) on a virtual H200 for two steps, and predicted from its",
    "captured program. *equal* (with the number of allocations): the same allocations with the same frees between them, one by one.",
    "",
]
SHIPPED = [
    "# Families that Tidemark comes with, against trainings",
    "",
    "Made by `tools/capture/prove.py --shipped`: a model of each, tiny or of transformers' default configuration with eight layers at most, is trained by real PyTorch (2.11.0 with transformers 4.57.6 and 5.17.0, else 2.15.0) on a virtual H200 for two steps, and predicted from",
    "the program of its family, which was captured of other sizes. *equal* (with the number of allocations): the same allocations with the same frees between them, one by one. [All families](shipped-families.md) are compared with programs of exactly their size.",
    "*autocast*: weights in float32 under autocast to bfloat16; *autocast_own*: weights in bfloat16 under the same. A class may do something of its own under one of them, as a cast where two dtypes are not one (transformers 5.17.0: modeling_blip_2.py, query_output): its program has ways of their own for that, or does not hold there.",
    "*text*, *text_lora*: a model that takes images, fully and by LoRA trained on text alone. *target*, *target_checkpointed*: an encoder-decoder model whose labels have 61 and 130 tokens, and its source 96.",
    "",
]


def found(folder):
    """{model type: {mode: row}} of what the folder has."""
    rows = collections.defaultdict(dict)
    for path in sorted(folder.glob("*.json")):
        model_type, _, mode = path.stem.rpartition(".")
        if mode in MODES:
            rows[model_type][mode] = json.loads(path.read_text())
    return rows


def note(folder):
    """Tells in the headers of a family's programs in which modes trainings of this release are not as predicted from it (`differs`)."""
    for model_type, row in found(folder).items():
        program = nearest(model_type, importlib.metadata.version("transformers"))
        differs = [mode for mode in MODES if "at" in row.get(mode, ())]
        line = f"differs {', '.join(differs)}\n" if differs else ""
        program.write_text(re.sub(r"^(class \w+\n)(differs .*\n)?", lambda head: head[1] + line, program.read_text(), flags=re.MULTILINE))  # of all ways in which the family is built


def totals(rows, modes):
    """How many are equal, of each release that the rows name."""
    of = collections.defaultdict(list)
    for name, row in rows.items():
        of[name.partition(", ")[2]].append(row)

    def told_of(some):
        return ", ".join(f"{sum(row.get(mode, {}).get('equal', False) for row in some)} of {sum(mode in row for row in some)} {mode}" for mode in modes if any(mode in row for row in some))

    return [f"- Equal{' of ' + release if release else ''}: {told_of(of[release])}." for release in sorted(of)]


def table(folder, page, is_shipped=False):
    """The page with what the folder has, and the rows of others as they are."""
    rows = known_rows(page)
    of = f", transformers {importlib.metadata.version('transformers')}" if is_shipped else ""
    for model_type, row in found(folder).items():
        rows[model_type + of].update(row)
    modes = [mode for mode in MODES if any(mode in row for row in rows.values())]
    lines = [*(SHIPPED if is_shipped else CAPTURED), *totals(rows, modes), "", "| model type | " + " | ".join(modes) + " |", "| --- |" + " --- |" * len(modes)]
    notes = []
    for model_type, row in sorted(rows.items()):
        cells = []
        for mode in modes:
            one = row.get(mode)
            cells.append("" if one is None else f"equal, {one['of']}" if one.get("equal") else f"[{len(notes) + 1}]")
            if one is not None and not one.get("equal"):
                notes.append(f"{len(notes) + 1}. {model_type}, {mode}: {told(one).replace('|', '/')}")
        lines.append(f"| {model_type} | " + " | ".join(cells) + " |")
    page.write_text("\n".join([*lines, *(["", "## Not equal", "", *notes] if notes or not is_shipped else [])]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", default="tidemark")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--modes", nargs="*", choices=list(MODES), default=[mode for mode in MODES if mode not in OF_SOME])
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--note", action="store_true", help="tell in the programs' headers what is not equal")
    parser.add_argument("--trained", action="store_true")
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--on-virtual-gpu", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    folder = options.out.resolve()
    if options.note:
        note(folder)
    if options.table:
        return table(folder, options.table, options.shipped)
    folder.mkdir(parents=True, exist_ok=True)
    asked = [(model_type, mode) for model_type in options.types or named() for mode in options.modes]
    if options.on_virtual_gpu:
        return on_virtual_gpu(folder, asked, options.seconds, options.shipped)
    if not options.trained:
        train_all(options.tidemark)
    rows = {(model_type, mode): proved(model_type, mode, folder, options.tidemark) for model_type, mode in asked}
    for (model_type, mode), row in rows.items():
        print(f"{model_type} {mode}: {told(row)}", flush=True)
    return 0 if all(row.get("equal") for row in rows.values()) else 1


def train_all(tidemark):
    """The same command once more, on the virtual GPU."""
    from compare import ALIKE

    subprocess.run([tidemark, "run", "--gpu", "h200", "--memory", MEMORY, "--event-order", "instant", "--steps", "1000000", "--quiet", "--", sys.executable, *sys.argv, "--on-virtual-gpu"], env={**os.environ, **ALIKE}, check=True)


if __name__ == "__main__":
    sys.exit(main())
