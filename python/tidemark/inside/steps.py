"""Counts optimizer steps, files gradients and optimizer states, and ends the program when nothing new can be learnt.

A step ends when an optimizer's `step` returns.  With several optimizers (a GAN) the one that steps first sets the pace, for as long
as it goes on stepping.
"""

import os
import weakref

from . import batches, counters, door, leaving, losses, marks, modules, phases, progress, relied_on
from .epoch.loaders import loaders


class _Steps:
    def __init__(self, session):
        self.session = session
        self.optimizers = weakref.WeakSet()  # those that have stepped; weakly, since their state goes with them
        self.leader = lambda: None  # weak reference to the optimizer that sets the pace
        self.stepped = weakref.WeakSet()  # since the last step ended
        self.ends = []  # number of allocator events when each step ended
        self.allocated_peaks, self.reserved_peaks = [], []  # so far, after each step; numbers, which the collector does not count
        self.outer_phase = phases.OTHER
        self.inside_an_engine = False  # an engine's step (deepspeed.py) may be several of an optimizer, or none
        self.stepped_in_engine = False
        wanted = os.environ.get("TIDEMARK_STEPS", "auto")
        self.limit = int(wanted) if wanted.isdigit() else None
        self.automatic = wanted == "auto"
        self.at_least = max(3, int(os.environ.get("TIDEMARK_STEPS_AT_LEAST", "0")))  # where another rank of the same question has gone on to

    @property
    def count(self):
        return len(self.ends)

    def before(self, optimizer, args, kwargs):
        self.optimizers.add(optimizer)
        self.outer_phase = phases.phase.enter(phases.OPTIMIZER)
        _mark_gradients(optimizer)
        return _with_closure_watched(optimizer, args, kwargs)

    def after(self, optimizer, args, kwargs):
        mark_what_it_holds(optimizer)
        if self.inside_an_engine:
            self.stepped_in_engine = True
            return
        phases.phase.enter(phases.BACKWARD if self.outer_phase == phases.BACKWARD else phases.OTHER)
        if self._sets_the_pace(optimizer) and self.session.used_cuda() and os.getpid() == self.session.pid:
            self._step_ended()

    def engine_steps(self, step):
        """Runs `step()`, an engine's whole optimizer step: what it does before and after the optimizer's own belongs to it."""
        self.inside_an_engine, self.stepped_in_engine = True, False
        before = phases.phase.enter(phases.OPTIMIZER)
        try:
            return step()
        finally:
            self.inside_an_engine = False
            phases.phase.enter(phases.OTHER if before == phases.FORWARD else before)
            if self.stepped_in_engine and self.session.used_cuda() and os.getpid() == self.session.pid:
                self._step_ended()

    def mark_what_optimizers_hold(self):
        for optimizer in self.optimizers:
            mark_what_it_holds(optimizer)

    def _sets_the_pace(self, optimizer):
        leads = self.leader() in (None, optimizer) or optimizer in self.stepped
        if leads:
            self.leader = weakref.ref(optimizer)
            self.stepped.clear()
        else:
            self.stepped.add(optimizer)
        return leads

    @losses.guarded("not every step is counted")
    def _step_ended(self):
        batches.batches.step_ended()
        loaders.step_ended()
        self.ends.append(door.library().tidemark_event_count())
        counters.step_ended()
        allocated, *peaks = door.memory_now() if door.has("events") else counters.memory_now()
        for known, peak in zip((self.allocated_peaks, self.reserved_peaks), peaks):
            known.append(max(peak, known[-1]) if known else peak)  # a program that resets the statistics must not look as if its peak had fallen
        progress.step_ended(self.session.run_dir, self.count, allocated, self.allocated_peaks[-1])
        if self._enough():
            self.stop()

    def _enough(self):
        if self.limit is not None:
            return self.count >= self.limit
        if not self.automatic or self.count < self.at_least:
            return False
        if loaders.of_training() is not None:
            return loaders.finished()
        return all(known[-1] == known[-3] for known in (self.allocated_peaks, self.reserved_peaks))

    def stop(self):
        """Leaves at once: what a program does after training (saving, evaluating) is not what it was run for."""
        self.session.finish(stopped_after_steps=self.count)
        leaving.leave(0)


steps = None


def watch(session):
    global steps
    steps = _Steps(session)
    relied_on.enable("optimizer_steps", _watch_optimizers)
    relied_on.enable("backward_phase", phases.watch_backward)


def _watch_optimizers():
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(steps.before)
    register_optimizer_step_post_hook(steps.after)


@losses.guarded("what optimizers keep is not told from activations")
def mark_what_it_holds(optimizer):
    """A parameter that no module has is an engine's copy of one (fp32, this rank's part): a state."""
    engine = steps.inside_an_engine or steps.stepped_in_engine
    for category in (marks.PARAMETERS, marks.OPTIMIZER_STATE):
        marks.mark(category, ((p, modules.names.owner(p)) for p in _parameters(optimizer) if (engine and not modules.names.owner(p)) == (category == marks.OPTIMIZER_STATE)))
    marks.mark(marks.OPTIMIZER_STATE, _tensors_of_state(optimizer))


def _mark_gradients(optimizer):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad  # torch makes its object on the first asking, which would be the optimizer's
    _mark_gradients_of(optimizer)


@losses.guarded("gradients are not told from activations")
def _mark_gradients_of(optimizer):
    marks.mark(marks.GRADIENTS, ((p.grad, modules.names.owner(p)) for p in _parameters(optimizer) if p.grad is not None))


def _with_closure_watched(optimizer, args, kwargs):
    """`step(closure)` runs forward and backward inside the optimizer (Lightning always does); None if there is no closure."""
    closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)  # args[0] is the optimizer
    if not callable(closure):
        return None

    def watched():
        phases.phase.enter(phases.OTHER)
        try:
            return closure()
        finally:
            phases.phase.enter(phases.OPTIMIZER)
            _mark_gradients(optimizer)

    return (args, {**kwargs, "closure": watched}) if "closure" in kwargs else ((args[0], watched, *args[2:]), kwargs)


def _parameters(optimizer):
    return (p for group in optimizer.param_groups for p in group["params"])


def _tensors_of_state(optimizer):
    import torch

    for parameter, state in optimizer.state.items():
        for value in state.values() if isinstance(state, dict) else ():
            if isinstance(value, torch.Tensor):
                yield value, modules.names.owner(parameter)
