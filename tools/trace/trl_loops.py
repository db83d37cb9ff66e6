"""Trainers of TRL that make adapters, checkpoints and their reference themselves."""

import grpo
import preference

TRAINERS = {**dict.fromkeys(preference.LOOPS, preference), "grpo_trainer": grpo}


def module_of(spec):
    """The module that stands for the spec's loop; none for other loops."""
    return TRAINERS.get(spec.get("loop"))


def packages(spec):
    """Whose version a recording names beside torch's and transformers'."""
    return ("trl",) if spec.get("loop") in ("sft_trainer", *TRAINERS) else ()
