#!/usr/bin/env python3
"""Compares the programs of families that Tidemark comes with, bound to a configuration, with programs captured at exactly that one.

usage: python tools/capture/compare.py [MODEL_TYPE ...] [--of 5.17.0] [--note] [--table docs/shipped-families.md]

The configuration is transformers' default of the model type, with eight layers at most, and with equal sizes where a program holds for those.  Both programs are predicted (AdamW; in bf16, in fp32 under autocast, and in bf16 under autocast);
equal are all allocations and frees, in their order.  Text is of 160 tokens, two samples of it, and of a whole chunk where a program has a case of that (and as many layers as each of its cases has); with images or sounds there are two batches, of one and of two a sample, and of other sizes where a model takes any, in a text that has room for them.
TIDEMARK_BIN is the command; this Python has torch and transformers, and the programs are those of its release of transformers, or of the older one behind `--of`: Tidemark takes
those where this release has no program of its own.  With `--note` such a program tells in its header on which releases it is equal (`equal_on`), and answers for them without an assumption.
The table's rows of others stay as they are.  It ends with 1 where a program is not equal.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]
from limits import at_most

TIDEMARK = os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark")
MOST_LAYERS = 8
ALIKE = {"PYTORCH_JIT": "0", "TORCHDYNAMO_DISABLE": "1", "PYTHONHASHSEED": "0"}  # of processes that do the same: scripted functions are Python ones, and sets go in one order
ASKED = ["--gpu", "h200", "--memory", "4000GB", "--torch", importlib.metadata.version("torch").partition("+")[0], "--offline", "--quiet"]
WAYS = {"none": [], "other": ["--dtype", "fp32", "--autocast", "bf16"], "own": ["--autocast", "bf16"]}  # of autocast, as python/tidemark/capture/autocast.py tells it
TOKENS = 160
TARGET = 61  # tokens of a label, of encoder-decoder models
TEXT = {"batch": 2, "images": 0, "grid": None}
SEEN = ({"batch": 2, "images": 1, "grid": (8, 12)}, {"batch": 3, "images": 2, "grid": (12, 20)})  # patches down and across, of images of any size
HIGH = {"batch": 2, "images": 3, "grid": (20, 12)}  # of programs that go another way for those that are higher than wide
LAYERS = ("num_hidden_layers", "n_layer", "encoder_layers", "decoder_layers", "num_layers", "n_layers", "depth", "num_decoder_layers")
NAMED = re.compile(r"index|indices|_layers$")
LABELS = 10
SECONDS = 300


# --- on the virtual GPU


def published(model_type, way=0):
    """What a class needs beside its defaults, or has no usable default of, as a published model of it has that; of a family that is built in several ways, a list of such."""
    found = json.loads((HERE / "published.json").read_text()).get(model_type, {})
    return found[way % len(found)] if isinstance(found, list) else found  # programs of text alone stand behind those of images, in the same order


def texts_of(program):
    """The programs of a family, one for each way in which it is built."""
    return re.split(r"\n(?=tidemark-program )", program.read_text())


def cases_of(program):
    """(number of the program in its file, its text, a batch) of all that is compared."""
    return [(way, text, batch) for way, text in enumerate(texts_of(program)) for batch in batches_of(text)]


def configuration(model_type, way, text, layers=()):
    """`layers`: (path, number) where other numbers of layers go another way."""
    from tidemark.capture.keys import at, changed, without_names_of_labels
    from tidemark.capture.unwritten import keys_of
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    trained = re.search(r"^class (\S+)$", text, re.MULTILINE)[1]
    given = published(model_type, way)
    whole = keys_of(CONFIG_MAPPING[model_type](**given), given)
    config = {**with_few_layers(whole), "model_type": model_type, "architectures": [trained]}
    for part, key, count in re.findall(r"^holds ([a-z][\w.]*\.)?(%s) == (\d+)$" % "|".join(LAYERS), text, re.MULTILINE):  # as many as it has by default, or none that it holds for
        if at(config, part + key) != int(count):
            config = with_whole(config, whole, part[:-1])
    for path, period, rest in re.findall(r"^holds ([a-z][\w.]*) % (\d+) == (\d+)$", text, re.MULTILINE):
        if isinstance(at(config, path), int) and path.rpartition(".")[2] in LAYERS:
            least = int((re.search(rf"^holds {re.escape(path)} >= (\d+)$", text, re.MULTILINE) or ["", "1"])[1])
            most = max(MOST_LAYERS, least, int(period))
            kept = with_whole(config, whole, path.rpartition(".")[0]) if most > MOST_LAYERS else config
            config = with_layers(kept, path, max(n for n in range(least, most + 1) if n % int(period) == int(rest)))
    for path, count in layers:
        config = with_layers(with_whole(config, whole, path.rpartition(".")[0]), path, count)
    for one, other in re.findall(r"^holds ([a-z][\w.]*) == ([a-z][\w.]*)$", text, re.MULTILINE):
        if isinstance(at(config, one), int) and isinstance(at(config, other), int):
            config = changed(config, {one: at(config, other)})
    if re.search(r"^key num_labels ", text, re.MULTILINE):
        config = {**without_names_of_labels(config), "num_labels": LABELS}
    if config.get("is_encoder_decoder"):  # without which there are no labels to shift
        config |= {key: 0 for key in ("decoder_start_token_id", "pad_token_id") if config.get(key) is None}
    return json.dumps(config, default=str)


def batches_of(text):
    """What a program is compared with, by what it takes."""
    sizes = re.search(r"^sizes (.*)$", text, re.MULTILINE)[1]
    takes_text = {"takes_text": bool(re.search(r"\bS=", sizes))}
    if "images=" in sizes:
        first, *others = [{**batch, **takes_text} if "grid_h=" in sizes else {**batch, **takes_text, "grid": None} for batch in SEEN]
    else:
        text_alone = {**TEXT, "images": int(takes_text["takes_text"] and "\ninput pixel_values:" in text), **takes_text}  # or one image beside each
        first, others = text_alone, [{**text_alone, "tokens": path} for path in sorted(set(re.findall(r"^main .*\bS % ([a-z][\w.]*) == 0", text, re.MULTILINE)))]
    if re.search(r"\btarget=", sizes):
        others.append({**first, "target_seq": TARGET})
    if re.search(r"^main .*\bgrid_w\b", text, re.MULTILINE):
        others.append({**HIGH, **takes_text})
    rests = sorted(set(re.findall(r"\b((?:[a-z_]+\.)*(?:%s)) %% (\d+) == (\d+)" % "|".join(LAYERS), "".join(re.findall(r"^main .*\n", text, re.MULTILINE)))))
    return [first, *others, *({**first, "layers": [(path, int(period) + int(rest))]} for path, period, rest in rests if MOST_LAYERS % int(period) != int(rest))]


def capture(program, folder):
    """The configuration, and the programs captured at exactly that, of each batch."""
    from tidemark.capture.batches import heard
    from tidemark.capture.keys import at
    from tidemark.capture.settings import first_of
    from transformers import AutoConfig

    for number, (way, text, batch) in enumerate(cases_of(program)):
        config = folder / f"{program.name}.{number}.json"
        config.write_text(configuration(program.name, way, text, batch.get("layers", ())))
        keys = AutoConfig.for_model(**json.loads(config.read_text()))
        vision = getattr(keys, "vision_config", keys)
        patch, merges = first_of(vision, "patch_size"), first_of(vision, "spatial_merge_size", "pooling_kernel_size") or 1
        asked = {
            "batch": batch["batch"],
            "seq": at(keys.to_dict(), batch["tokens"]) if "tokens" in batch else heard(keys, TOKENS),
            "takes_text": batch["takes_text"],
            "images": batch["images"],
            "target_seq": batch.get("target_seq", 0),
            "image_size": [-(-side // merges) * merges * patch for side in batch["grid"]] if batch["grid"] else None,
        }
        exact = captured_at(config, asked)
        minds = re.search(r"^autocast (.*)$", exact, re.MULTILINE)
        for way in WAYS:
            own = minds and way != "none" and way not in minds[1].split()
            (folder / f"{program.name}.{number}.{way}.program").write_text(captured_at(config, asked, way) if own else exact)
        (folder / f"{program.name}.{number}.asked").write_text(json.dumps(asked))


def captured_at(config, asked, autocast=None):
    """The program of this batch alone, in a text as long as it has to be; that is written into `asked`."""
    from tidemark.capture import models
    from tidemark.capture.batches import Shape
    from tidemark.capture.inside import header_of
    from tidemark.capture.mistakes import with_room
    from tidemark.capture.points import with_grid
    from tidemark.capture.program import program

    source = models.find({"source": str(config), "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False})

    def at_length(more):
        shape = Shape(asked["batch"], asked["seq"] + more, asked["images"], image_size=tuple(asked["image_size"]) if asked["image_size"] else None, target=asked["target_seq"])
        text = program(source, "cuda", lambda model: [with_grid(shape, model)], lambda model: header_of(model, False), looks_for_lengths=False, autocast=autocast)
        asked["seq"] += more
        return text

    return with_room(at_length)


def captured_all(programs, folder):
    """Each in a child, so that libraries are imported once."""
    import transformers

    transformers.logging.set_verbosity_error()
    for name in ("torch._dynamo", "transformers.models.auto.modeling_auto", "transformers.models.llama.modeling_llama", "tidemark.capture.program"):  # the last two load what most models do
        __import__(name)
    for program in programs:
        child = os.fork()
        if child == 0:
            try:
                with at_most(SECONDS):
                    capture(program, folder)
            except BaseException as error:  # whatever a model of such a configuration raises
                (folder / f"{program.name}.failed").write_text(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            os._exit(0)
        os.waitpid(child, 0)


# --- beside it


def on_virtual_gpu(model_types, of, folder):
    command = [TIDEMARK, "run", "--gpu", "h100-80gb", "--memory", "1000TB", "--quiet", "--keep-going", "--", sys.executable, __file__, *model_types, "--of", of, "--on-virtual-gpu", folder]
    subprocess.run(list(map(str, command)), env={**os.environ, **ALIKE}, capture_output=True)


def with_few_layers(config):
    """The configuration and its parts with fewer layers, but for a part that names some of them by number; what follows from their number is left to its class."""
    config = {key: with_few_layers(value) if isinstance(value, dict) else value for key, value in config.items()}
    counts = {key: config[key] for key in LAYERS if isinstance(config.get(key), int) and config[key] > MOST_LAYERS}
    if not counts or any(NAMED.search(key) and isinstance(value, list) and any(isinstance(v, int) and v >= MOST_LAYERS for v in value) for key, value in config.items()):
        return config
    kept = {key: value[:MOST_LAYERS] if isinstance(value, list) and len(value) in counts.values() else value for key, value in config.items() if key not in ("out_features", "out_indices")}
    return kept | dict.fromkeys(counts, MOST_LAYERS)


def with_whole(config, whole, part):
    """With all layers of a part, or of the model itself."""
    from tidemark.capture.keys import at, changed

    return changed(config, {part: at(whole, part)}) if part else {**whole, **{key: config[key] for key in ("model_type", "architectures")}}


def with_layers(config, path, count):
    """So many layers, and the kinds of these in the lists beside."""
    from tidemark.capture.keys import at, changed

    above = path.rpartition(".")[0]
    beside = at(config, above) if above else config
    lists = {f"{above}.{key}" if above else key: value[:count] for key, value in beside.items() if isinstance(value, list) and len(value) == beside[path.rpartition(".")[2]]}
    numbered = {
        f"{above}.{key}" if above else key: [n for n in value if n < count]
        for key, value in beside.items()
        if NAMED.search(key) and isinstance(value, list) and value and all(isinstance(n, int) and not isinstance(n, bool) for n in value) and value == sorted(set(value))
    }
    return changed(config, {**lists, **numbered, path: count})


def predicted(folder, asked, *words):
    """The events of a prediction; raises RuntimeError with what was said instead."""
    events, batch = folder / "events.txt", json.loads(asked.read_text())
    words = [*words, "--batch", str(batch["batch"])]
    words += ["--seq", str(batch["seq"])] if batch["takes_text"] else []
    words += ["--images", str(batch["images"])] if batch["images"] else []
    words += ["--image-size", "x".join(map(str, batch["image_size"]))] if batch["image_size"] else []
    events.unlink(missing_ok=True)
    done = subprocess.run([TIDEMARK, "predict", *words, *ASKED, "--events", events], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    return [line.split(" ")[0] for line in events.read_text().splitlines()]


def compared(program, folder):
    """What the table says of a family."""
    failed = folder / f"{program.name}.failed"
    events = []
    for number, way in itertools.product(range(len(cases_of(program))), WAYS):
        config, exact, asked = (folder / f"{program.name}.{number}.{kind}" for kind in ("json", f"{way}.program", "asked"))
        if not asked.exists():
            return f"not captured: {failed.read_text() if failed.exists() else 'the process ended'}"
        uncached = ["--use-cache", "false"] if re.search(r"^cache false$", exact.read_text(), re.MULTILINE) else []  # a class whose default that is
        target = json.loads(asked.read_text())["target_seq"]  # the exact program holds for that one
        family = [config, "--program", program, "--transformers", importlib.metadata.version("transformers"), *(["--target-seq", str(target)] if target else [])]
        try:
            ours, theirs = (predicted(folder, asked, *model, *WAYS[way], *uncached) for model in (family, ["--program", exact]))
        except RuntimeError as error:
            if way != "none" and re.search("holds for autocast |does under autocast what is not told by its program", str(error)):  # prove.py tells of these
                continue
            return str(error).replace(str(ROOT) + "/", "").replace(str(folder) + "/", "")
        if ours != theirs:
            first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            return f"differs from event {first} of {len(theirs)}" + (f", batch {number + 1}" if number else "") + ("" if way == "none" else f" under autocast ({way})")
        events += [len(ours)] if way == "none" else []
    return f"equal, {' and '.join(map(str, events))}"


def note(program, release, is_equal):
    """Tells in a program's header whether it is equal on another release than its own."""
    text = program.read_text()
    line = re.search(r"^equal_on (.*)\n", text, re.MULTILINE)
    known = set(line[1].split() if line else []) - {release} | ({release} if is_equal else set())
    told = f"equal_on {' '.join(sorted(known, key=lambda version: [int(n) for n in re.findall(r'[0-9]+', version)]))}\n" if known else ""
    text = text.replace(line[0], "") if line else text
    program.write_text(re.sub(r"^(transformers .*\n)", lambda found: found[1] + told, text, flags=re.MULTILINE))


def with_others(table, rows):
    """The rows of this run, and those of the table that are of other programs, in order."""
    known = {}
    for line in table.read_text().splitlines() if table.exists() else []:
        cells = re.match(r"\| (\S+) \| (\d\S*) \| (\d\S*) \| ", line)
        if cells:
            known[cells.groups()] = line
    known.update(rows)
    return [known[name] for name in sorted(known) if is_taken(*name)]


def is_taken(model_type, of, release):
    """Whether that release's program is there, and no other in its place where transformers is of this release."""
    return (ROOT / "data/programs" / of / model_type).exists() and (of == release or not (ROOT / "data/programs" / release / model_type).exists())


def write(table, rows):
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    releases = sorted({made for _, _, made, _ in cells})
    equal = ", ".join(f"{sum(said.startswith('equal') for _, _, made, said in cells if made == release)} of {sum(made == release for _, _, made, _ in cells)} on {release}" for release in releases)
    head = f"""# Families that Tidemark comes with

Made by `tools/capture/compare.py`: the program of each family, bound to transformers' default configuration with {MOST_LAYERS} layers at most (and equal
sizes where a program holds for those alone; keys that a class has no usable default of are those of `tools/capture/published.json`), against a program captured at exactly that configuration, of the release that
it is compared on. *equal* (with the number of events): the same allocations and frees, one by one. Two samples of {TOKENS} tokens
(and of a whole chunk where a program has a case of that), bf16, AdamW; with images or sounds two batches, of one a sample (8 x 12 patches, where any size is taken) and of two (12 x 20), in a text that has room for them; of encoder-decoder models a second batch, whose labels have {TARGET} tokens. Each once more under autocast, in fp32 and in bf16, where a program holds for that.

Between 5.17.0 and 5.23.0 transformers rewrote what many families share, so that few programs of the one hold on the other: rotary embeddings (modeling_ministral3.py, Ministral3RotaryEmbedding.forward: a matmul
under maybe_autocast, then a mul), which hidden states a vision tower returns (utils/output_capturing.py, select_hidden_states), and a bias on attention (integrations/sdpa_attention.py, position_bias_mask, which is contiguous since).

{len({kind for kind, *_ in cells})} model types. Equal: {equal}.

| model type | program of | compared on | |
| --- | --- | --- | --- |
"""
    table.write_text(head + "\n".join(rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--of", default=importlib.metadata.version("transformers"))
    parser.add_argument("--note", action="store_true")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--on-virtual-gpu", type=pathlib.Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    release = importlib.metadata.version("transformers")
    families = [path for path in sorted((ROOT / "data/programs" / asked.of).glob("*")) if "." not in path.name]  # tests/golden/steps has what tells classes apart
    programs = [path for path in families if not asked.model_types or path.name in asked.model_types]
    if not programs:
        parser.error(f"data/programs/{asked.of} has no program of {' or '.join(asked.model_types) or 'anything'}")
    if asked.on_virtual_gpu:
        return captured_all(programs, asked.on_virtual_gpu)
    rows, unequal = {}, []
    with tempfile.TemporaryDirectory() as folder:
        on_virtual_gpu([path.name for path in programs], asked.of, folder)
        for path in programs:
            said = compared(path, pathlib.Path(folder))
            row = rows[path.name, asked.of, release] = f"| {path.name} | {asked.of} | {release} | {said} |"
            unequal += [] if said.startswith("equal") else [path.name]
            if asked.note and release != asked.of:
                note(path, release, said.startswith("equal"))
            print(row, flush=True)
    if asked.table:
        write(asked.table, with_others(asked.table, rows))
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
