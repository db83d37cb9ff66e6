"""Every rival by name: what it estimates, and how it is asked.  A new one is one file and one line here."""

import dataclasses
from collections.abc import Callable

import accelerate_estimate
import deepspeed_estimators
import guide
import mem_tracker


@dataclasses.dataclass(frozen=True)
class Rival:
    estimate: Callable  # Training -> bytes; raises Refused
    version: Callable  # () -> text
    counts: str  # what its figure is of


RIVALS = {
    "accelerate": Rival(accelerate_estimate.estimate, accelerate_estimate.version, "weights, gradients, Adam's states"),
    "deepspeed-zero2": Rival(deepspeed_estimators.zero2, deepspeed_estimators.version, "model states, mixed precision, Adam"),
    "deepspeed-zero3": Rival(deepspeed_estimators.zero3, deepspeed_estimators.version, "model states, mixed precision, Adam"),
    "guide": Rival(guide.estimate, guide.version, "everything, with 20 % of overhead"),
    "mem-tracker": Rival(mem_tracker.estimate, mem_tracker.version, "allocated tensors"),
}

# Not run: what xMem's authors published for the same runs, in rows.jsonl.  The context is in these figures already.
PUBLISHED = {
    "xmem": "reserved, and the framework's memory",
    "dnnmem": "the same, by another method",
    "schedtune": "the device's memory, learnt",
    "llmem": "the device's memory",
}
