"""Parts of a step that its trainer names (TRL's profiling contexts): what each has at most, and what it leaves."""

import contextlib

from . import door, relied_on

# trl: trainer/grpo_trainer.py (1.16.0): profiling_context, profiling_decorator
NAMES = {
    "vLLM.generate": "rollout",
    "transformers.generate": "rollout",
    "transformers.generate_batch": "rollout",
    "sync_weights": "weight sync",
    "_calculate_rewards": "rewards",
    "compute_loss": "loss",
}


class Stages:
    """[name, number of the first event, number after the last] of each time that a stage ran, in the order in which they began."""

    def __init__(self):
        self.found = []

    @contextlib.contextmanager
    def within(self, name):
        span = [name, door.library().tidemark_event_count(), None]
        self.found.append(span)
        try:
            yield
        finally:
            span[2] = door.library().tidemark_event_count()


stages = Stages()


def trl_was_imported():
    relied_on.enable("stages_of_trl", _watch_profiling)


def grpo_was_imported():
    relied_on.enable("log_probabilities_of_trl", _watch_log_probabilities)


def _watch_profiling():
    from trl.extras.profiling import ProfilingContext

    enter, leave = ProfilingContext.__enter__, ProfilingContext.__exit__

    def __enter__(self):
        known = NAMES.get(self.name.partition(".")[2])
        self.tidemark_stage = stages.within(known) if known else contextlib.nullcontext()
        self.tidemark_stage.__enter__()
        return enter(self)

    def __exit__(self, *error):
        self.tidemark_stage.__exit__(*error)
        return leave(self, *error)

    ProfilingContext.__enter__, ProfilingContext.__exit__ = __enter__, __exit__


def _watch_log_probabilities():
    """The same function scores by the policy and by the reference, and once more with gradients, which is part of the loss."""
    import functools

    import torch
    from trl.trainer.grpo_trainer import GRPOTrainer

    real = GRPOTrainer._get_per_token_logps_and_entropies

    @functools.wraps(real)
    def scored(self, model, *args, **kwargs):
        if torch.is_grad_enabled():
            return real(self, model, *args, **kwargs)
        scorer = "reference" if model is self.ref_model or _is_without_adapters(model) else "policy"
        with stages.within(f"{scorer} log-probabilities"):
            return real(self, model, *args, **kwargs)

    GRPOTrainer._get_per_token_logps_and_entropies = scored


def _is_without_adapters(model):
    """Inside of PEFT's disable_adapter()."""
    return any(getattr(module, "disable_adapters", False) is True for module in model.modules())  # a method of transformers' models


def rows(events):
    """[{name, peak, kept}] of the stages that ended."""
    found = {}
    for name, start, end in stages.found:
        if end is None or end > events.count:
            continue
        before = events.allocated[start - 1] if start else 0
        row = found.setdefault(name, {"name": name, "peak_allocated_bytes": 0})
        row["peak_allocated_bytes"] = max(row["peak_allocated_bytes"], *events.allocated[max(0, start - 1) : end], 0)
        kept = (events.allocated[end - 1] if end else 0) - before
        row["kept_bytes"] = max(kept, row.get("kept_bytes", kept))
    return list(found.values())
