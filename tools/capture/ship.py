#!/usr/bin/env python3
"""Captures the programs of whole families that Tidemark comes with: data/programs/RELEASE OF TRANSFORMERS/MODEL_TYPE.

usage: PYTHONHASHSEED=0 tidemark run --gpu h100-80gb --memory 1000TB --keep-going -- python tools/capture/ship.py FOLDER [--add-text] [--add-ways N] [MODEL_TYPE ...]

FOLDER is data/programs; without model types, all that transformers can train and that are not there yet.  MODEL_TYPE.sequence_classification is the
family with a score for each class, MODEL_TYPE.contrastive that of images and their captions, MODEL_TYPE.generation what generate() calls.  With --add-text only the program without images is captured, and put behind what is there; with --add-ways the programs of
the ways from number N on (families.json, the first is 0).
"""

import argparse
import gc
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
SECONDS = 7200
# Whose tokens GPUs may share (docs/design/context-parallel.md).
SHARED = {"gemma", "gpt2", "gpt_neox", "llama", "mistral", "mixtral", "opt", "phi3", "qwen2", "qwen3"}
# Models with images that are trained on text alone, too: a program of that stands behind the one of images.
SEEING = {"gemma3", "gemma4", "glm4v", "internvl", "llama4", "llava", "llava_next", "mistral3", "mllama", "paligemma", "qwen2_5_vl", "qwen2_vl", "qwen3_5_moe", "qwen3_vl", "qwen3_vl_moe"}

GENERATION = "generation"  # a prompt, and one more token beside the cache: two programs of a family
PHASES = ("prefill", "decode")

# Held for the places and the scratch memory of images; sizes of parameters alone where there are none.
SIZES_OF_IMAGES = re.compile(r"(^|\.)(image|patch)_size$")


def family_text(model_type, head, overrides, shipped, layers, held, flags, only_text=False, first_way=0):
    """`shipped`: keys as those have them that are published, where others do not do, or a list of such where a family is built in several ways, which have a program each, one
    behind the other; `layers`: how many these have; `held`: keys that a program holds for that one value of; `flags`: keys of the first of these families that say that it does more."""
    from tidemark.capture.family import Family
    from tiny import merged, tiny

    if head == GENERATION:
        given = (overrides, shipped, layers, held, flags)
        return "\n".join(family_text(model_type, phase, *given, first_way=first_way) for phase in PHASES)

    def of(way, sees=True, is_first=False):
        keys = merged(tiny(model_type, overrides), way)
        if head == "sequence_classification" and keys.get("pad_token_id") is None:  # without one it takes single samples
            keys["pad_token_id"] = 0
        kept = [path for path in held if sees or not SIZES_OF_IMAGES.search(path)]
        return Family(keys, "cuda", layers, kept, head or None, positions=model_type in SHARED and is_first and not head, sees=sees, way=way, flags=flags if is_first else (), is_rare=not is_first).text()

    ways = list(enumerate(shipped if isinstance(shipped, list) else [shipped]))[first_way:]
    usual = [] if only_text else [of(way, is_first=number == 0) for number, way in ways]
    of_text = [of(way, sees=False) for _, way in ways if only_text or (model_type in SEEING and head not in PHASES)]
    return "\n".join([*usual, *of_text])


def given_of(name):
    """What is given of a family beside what its class has by default."""
    tables = (json.loads((HERE / file).read_text()) for file in ("overrides.json", "families.json", "layers.json", "held.json", "flags.json"))
    return [table.get(name, table.get(name.partition(".")[0], {})) for table in tables]


def with_more(text, more):
    """Programs and others of the same family, each once, those of text alone last."""
    programs = dict.fromkeys(program.rstrip() for whole in (text, more) for program in re.split(r"\n(?=tidemark-program )", whole))
    return "\n\n".join(sorted(programs, key=lambda program: "\nholds images == 0\n" in program)) + "\n"


def ship(name, release, only_text=False, first_way=0):
    """Writes the program of a family; what there is to tell of it."""
    from limits import TooSlow, at_most

    model_type, _, head = name.partition(".")
    start = time.time()
    try:
        with at_most(SECONDS):
            text = family_text(model_type, head, *given_of(name), only_text=only_text, first_way=first_way)
            if only_text or first_way:
                text = with_more((release / name).read_text(), text)
        (release / name).write_text(text)
        told = f"{text.count(chr(10))} lines, {text.count(chr(10) + 'main ')} ways, {text.count(chr(10) + 'without ')} left out"
    except (Exception, TooSlow) as error:  # whatever a model of its configuration raises
        told = f"not shipped: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    print(f"{name}: {told}, {time.time() - start:.0f} s", flush=True)


def ship_all(folder, wanted, only_text=False, first_way=0):
    """Each in a child, so that libraries are imported once, and what one leaves is not in the way of another."""
    import transformers
    from models import model_types

    transformers.logging.set_verbosity_error()
    for name in ("torch._dynamo", "transformers.models.auto.modeling_auto", "transformers.models.llama.modeling_llama", "tidemark.capture.family"):  # the last two load what most models do
        __import__(name)
    gc.freeze()  # what all children share need not be searched again by each
    gc.set_threshold(100000, 20, 20)
    release = folder / transformers.__version__
    release.mkdir(parents=True, exist_ok=True)
    for model_type in wanted or [kind for kind in model_types() if not (release / kind).exists()]:
        child = os.fork()
        if child == 0:
            ship(model_type, release, only_text, first_way)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{model_type}: not shipped: the process ended by {status}", flush=True)


def main():
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("set PYTHONHASHSEED=0: which kind of layers is first in a set is chance, else (transformers 5.23.0: modeling_gemma4.py, unique_layer_types)")
    os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--add-text", action="store_true", help="programs of text alone, behind those that are there")
    parser.add_argument("--add-ways", type=int, default=0, metavar="N", help="programs of the ways from number N on, behind those that are there")
    asked = parser.parse_intermixed_args()
    ship_all(asked.folder, asked.model_types, asked.add_text, asked.add_ways)


if __name__ == "__main__":
    main()
