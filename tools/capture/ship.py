#!/usr/bin/env python3
"""Captures the programs of whole families that Tidemark comes with: data/programs/RELEASE OF TRANSFORMERS/MODEL_TYPE.

usage: tidemark run --gpu h100-80gb --memory 1000TB --keep-going -- python tools/capture/ship.py FOLDER [MODEL_TYPE ...]

FOLDER is data/programs; without model types, all that transformers can train and that are not there yet.
"""

import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
SECONDS = 600


def family_text(model_type, overrides):
    from tiny import tiny

    from tidemark.capture.family import Family

    return Family(tiny(model_type, overrides), "cuda").text()


def ship(folder, wanted):
    import transformers
    from limits import TooSlow, at_most
    from models import model_types

    transformers.logging.set_verbosity_error()
    overrides = json.loads((HERE / "overrides.json").read_text())
    release = folder / transformers.__version__
    release.mkdir(parents=True, exist_ok=True)
    for model_type in wanted or [kind for kind in model_types() if not (release / kind).exists()]:
        start = time.time()
        try:
            with at_most(SECONDS):
                text = family_text(model_type, overrides.get(model_type, {}))
            (release / model_type).write_text(text)
            told = f"{text.count(chr(10))} lines, {text.count(chr(10) + 'main ')} ways, {text.count(chr(10) + 'without ')} left out"
        except (Exception, TooSlow) as error:   # whatever a model of its configuration raises
            told = f"not shipped: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        print(f"{model_type}: {told}, {time.time() - start:.0f} s", flush=True)


def main():
    os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")
    ship(pathlib.Path(sys.argv[1]), sys.argv[2:])


if __name__ == "__main__":
    main()
