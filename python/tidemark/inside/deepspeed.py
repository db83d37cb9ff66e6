"""DeepSpeed's engine: where its backward and its optimizer step begin and end, and what of its tensors is what.

Names are those of DeepSpeed 0.19.8: runtime/engine.py, runtime/zero/stage_1_and_2.py, runtime/zero/stage3.py.
"""

import functools

from . import losses, marks, phases, relied_on, steps


def engine_was_imported():
    import deepspeed.runtime.zero.stage_1_and_2  # noqa: F401  the engine has imported it

    relied_on.enable("deepspeed_phases", _watch_engine)
    relied_on.enable("deepspeed_buckets", _mark_buckets_made)


def _watch_engine():
    from deepspeed.runtime.engine import DeepSpeedEngine

    real_backward, real_step = DeepSpeedEngine.backward, DeepSpeedEngine.step

    @functools.wraps(real_backward)
    def backward(self, *args, **kwargs):
        result = phases.backward_of(lambda: real_backward(self, *args, **kwargs))
        _mark_gradients(self)
        return result

    @functools.wraps(real_step)
    def step(self, *args, **kwargs):
        _mark_gradients(self)
        return steps.steps.engine_steps(lambda: real_step(self, *args, **kwargs))

    DeepSpeedEngine.backward, DeepSpeedEngine.step = backward, step


def _mark_buckets_made():
    """Of ZeRO-1 and 2: what is sent is a copy of the bucket, so that no collective shows what the bucket is for."""
    from deepspeed.runtime.zero.stage_1_and_2 import DeepSpeedZeroOptimizer

    real_setup_buckets = DeepSpeedZeroOptimizer.setup_buckets

    @functools.wraps(real_setup_buckets)
    def setup_buckets(self):
        made = not getattr(self, "ready_for_gradients", True)
        real_setup_buckets(self)
        if made:
            _mark_buckets(self)

    DeepSpeedZeroOptimizer.setup_buckets = setup_buckets


@losses.guarded("ZeRO's buckets are not told from activations")
def _mark_buckets(optimizer):
    marks.mark(marks.COMMUNICATION, ((buffer, 0) for bucket in optimizer.ipg_buckets.values() for buffer in bucket.buffer))


@losses.guarded("the gradients that ZeRO keeps are not told from activations")
def _mark_gradients(engine):
    """The averaged partitions that ZeRO keeps of gradients, and the flat buffer of ZeRO-3 that they are views of."""
    kept = getattr(engine.optimizer, "averaged_gradients", None) or {}
    marks.mark(marks.GRADIENTS, ((gradient, 0) for group in kept.values() for gradient in group or () if gradient is not None))
    flat = getattr(engine.optimizer, "grad_partitions_flat_buffer", None)
    if flat is not None:
        marks.mark(marks.GRADIENTS, [(flat, 0)])
