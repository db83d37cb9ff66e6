#!/usr/bin/env python3
"""Captures what a list asks for, in one process.

usage: tidemark run --gpu h100-80gb --memory 1000TB --keep-going -- python tools/capture/list.py LIST FOLDER

LIST is JSON: {"NAME": {"config": {…}, "seq": 64, "attn": "eager", …}}, the options those of `python -m tidemark.capture`; FOLDER gets NAME.txt of each.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
DEFAULTS = {"batch": 2, "seq": 64, "images": 0, "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False}


def main():
    os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")
    from tidemark.capture import inside
    from tidemark.capture.mistakes import Mistake

    folder, failed = pathlib.Path(sys.argv[2]), 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, asked in json.loads(pathlib.Path(sys.argv[1]).read_text()).items():
        config = folder / "config.json"
        config.write_text(json.dumps(asked.pop("config")))
        try:
            (folder / f"{name}.txt").write_text(inside.run({**DEFAULTS, **asked, "source": str(config)}))
            print(name, flush=True)
        except (Mistake, RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
            failed += 1
            print(f"{name}: {error}", flush=True)
        config.unlink()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
