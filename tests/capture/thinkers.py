"""Run by test_batches.py under `tidemark run`: what is trained of Qwen's Omni models, and where the images of their texts lie, as the models themselves find them."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/capture"))
import torch
from tidemark.capture.batches import Shape
from tidemark.capture.models import from_configuration
from tiny import tiny

OVERRIDES = json.loads((ROOT / "tools/capture/overrides.json").read_text())
for kind in ("qwen2_5_omni", "qwen3_omni_moe"):
    source = from_configuration(tiny(kind, OVERRIDES[kind]), "the test's configuration")
    model = source.make(torch.bfloat16, "cuda")
    with torch.no_grad():
        batch = source.batch(model, Shape(2, 96, 2, (4, 6)), "cuda")
    places, _ = model.get_rope_index(batch["input_ids"].cpu(), batch["image_grid_thw"].cpu(), attention_mask=batch["attention_mask"].cpu())
    print(type(model).__name__, "of", model.of_whole, *zip(*(places[side, 0, :14].long().tolist() for side in (1, 2))))
