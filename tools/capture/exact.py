#!/usr/bin/env python3
"""Captures programs of exactly the configurations of recorded trainings, those that no shipped program holds for: tests/golden/programs.

usage: PYTHONHASHSEED=0 tidemark run --gpu h100-80gb --memory 1000TB --keep-going -- python tools/capture/exact.py [--family] RECORDING ...

RECORDING is the name of one in tests/golden/steps; its program is captured with either attention, with a cache and without, and with experts run as the recording says.
--family: for every size of its family, as ship.py does it, with the rotation of this one where the shipped program holds for another alone: MODEL_TYPE.family.gz.
"""

import argparse
import gzip
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = ROOT / "tests/golden/programs"
sys.path[:0] = [str(HERE), str(ROOT / "python")]
os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")


def spec_of(name):
    with gzip.open(ROOT / "tests/golden/steps" / f"{name}.txt.gz", "rt") as file:
        return json.loads(file.readline())["spec"]


def capture(name, spec, folder):
    from tidemark.capture import inside

    config = pathlib.Path(folder) / "config.json"
    config.write_text(json.dumps(spec["model"]))
    experts = spec.get("experts_implementation")
    request = {
        "source": str(config),
        "batch": spec.get("batch", 2),
        "seq": spec.get("seq", 64),
        "images": spec.get("images", 0),
        "image_size": [int(side) for side in spec["image_size"].split("x")] if "image_size" in spec else None,
        "head": spec.get("head"),
        "experts": experts,
        "padded": False,
    }
    for attention in ("sdpa", "eager"):
        for cache in (True, False):
            text = inside.run({**request, "attn": attention, "use_cache": cache})
            ending = (f"_experts_{experts}" if experts else "") + ("_eager" if attention == "eager" else "") + ("" if cache else "_no_cache")
            write(PROGRAMS / f"{name}{ending}.program.gz", text)


def capture_family(spec):
    from ship import family_text, given_of
    from tiny import merged

    kind = spec["model"]["model_type"]
    given = dict(zip(("overrides", "shipped", "layers", "held", "flags"), given_of(kind)))
    own = {part: {key: value for key, value in spec["model"][part].items() if key in ("hidden_size", "rope_parameters")} for part in given["shipped"]}
    write(PROGRAMS / f"{kind}.family.gz", family_text(kind, "", **{**given, "shipped": merged(given["shipped"], own)}))


def write(path, text):
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path.name}: {len(text.splitlines())} lines, {path.stat().st_size} bytes", flush=True)


def main():
    import transformers

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--family", action="store_true")
    parser.add_argument("recordings", nargs="+")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.recordings:
            if options.family:
                capture_family(spec_of(name))
            else:
                capture(name, spec_of(name), folder)


if __name__ == "__main__":
    main()
