"""The part of a training step that is running: forward, backward, optimizer, or other (data, loading, logging)."""

from . import door

OTHER, FORWARD, BACKWARD, OPTIMIZER = range(4)
NAMES = ("other", "forward", "backward", "optimizer")


class _Phase:
    def __init__(self):
        self.current = OTHER
        self.when_it_changes = None  # called with the phase that ends

    def enter(self, phase):
        before, self.current = self.current, phase
        if self.when_it_changes is not None and before != phase:
            self.when_it_changes(before)
        door.library().tidemark_set_phase(phase)
        return before


phase = _Phase()


def forward_begins():
    """An outermost module is called: forward, unless it is recomputed in backward or used by an optimizer.  Whether it is forward."""
    if phase.current == OTHER:
        phase.enter(FORWARD)
    return phase.current == FORWARD


def backward_of(run):
    """Runs `run()`, an engine's backward with all that follows the gradients' computation in it."""
    before = phase.enter(BACKWARD)
    try:
        return run()
    finally:
        phase.enter(OTHER if before == FORWARD else before)


def watch_backward():
    """Wraps the one function through which `Tensor.backward`, `autograd.backward` and `autograd.grad` reach the engine."""
    import torch

    real_run = torch.autograd.graph._engine_run_backward

    def _engine_run_backward(*args, **kwargs):
        before = phase.enter(BACKWARD)
        try:
            return real_run(*args, **kwargs)
        finally:
            phase.enter(OTHER if before == FORWARD else before)

    torch.autograd.graph._engine_run_backward = _engine_run_backward
    torch.autograd._engine_run_backward = _engine_run_backward
