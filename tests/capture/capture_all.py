"""Runs on the virtual GPU: captures the models of the tests in one process, and what shows that the recorder is neutral.  usage: capture_all.py FOLDER"""

import json
import os
import pathlib
import sys
import traceback

os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")
import torch
from tidemark.capture import inside, points
from tidemark.capture.batches import Shape
from tidemark.capture.models import from_configuration
from tidemark.capture.scopes import record

OUT = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent
ASKED = {"batch": 2, "seq": 40, "images": 0, "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False}


def events(forward):
    """What the allocator was asked for, and given back, in order."""
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=1_000_000)
    forward()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    return [(e["action"], e["size"]) for e in trace if e["action"] in ("alloc", "free_requested")]


def neutrality(keys):
    source = from_configuration(keys, "the test's configuration")
    model = source.make(torch.bfloat16, "cuda")
    shape = points.points_from(Shape(2, 160, 1 if "vision_config" in keys else 0), model)[0]
    left = []

    def plain():
        with torch.inference_mode():
            batch = source.batch(model, shape, "cuda")
            out = model(**batch)
            del out
            batch.clear()

    def recorded():
        with torch.inference_mode():
            batch = source.batch(model, shape, "cuda")
        recorder = record(model, batch, "cuda")
        left.extend(recorder.left_alive)

    plain()
    before = torch.cuda.memory_allocated()
    one, other = events(plain), events(recorded)
    return {"plain": one, "recorded": other, "left": left, "grown": torch.cuda.memory_allocated() - before}


for path in sorted((HERE / "configs").glob("*.json")):
    asked = json.loads(path.read_text())
    config = OUT / path.name
    config.write_text(json.dumps(asked["config"]))
    try:
        text = inside.run({**ASKED, **asked.get("request", {}), "source": str(config)})
        (OUT / f"{path.stem}.txt").write_text(text)
        (OUT / f"{path.stem}.neutral").write_text(json.dumps(neutrality(asked["config"])))
    except Exception:
        (OUT / f"{path.stem}.error").write_text(traceback.format_exc())
