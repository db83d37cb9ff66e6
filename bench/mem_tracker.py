"""Three training steps of the model of llama_1b.json under torch.distributed._tools.MemTracker on fake tensors; prints its seconds.

The same question, asked of PyTorch's own tracker: what does memory do in three steps?  Imports and the making of the model are not counted.
"""

import json
import os
import time

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from transformers import AutoConfig, AutoModelForCausalLM


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "llama_1b.json")) as file:
        spec = json.load(file)
    config = AutoConfig.for_model(**spec["model"])
    with FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = AutoModelForCausalLM.from_config(config)
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        tokens = torch.randint(0, 1000, (spec["batch"], spec["seq"]))
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        start = time.perf_counter()
        with tracker:
            for _ in range(3):
                model(input_ids=tokens, labels=tokens).loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                tracker.reset_mod_stats()  # it refuses a second iteration without
        elapsed = time.perf_counter() - start
    peak = tracker.get_tracker_snapshot("peak")
    print(json.dumps({"seconds": elapsed, "peak_bytes": max(kinds["Total"] for kinds in peak.values())}))


if __name__ == "__main__":
    main()
