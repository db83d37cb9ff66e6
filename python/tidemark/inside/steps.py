"""Counts optimizer steps, files gradients and optimizer states, and ends the program when nothing new can be learnt.

A step ends when an optimizer's `step` returns.  With several optimizers the busiest one counts.
"""

import array
import os
import sys

from . import door, phases

PARAMETERS, GRADIENTS, OPTIMIZER_STATE = 1, 2, 3   # Category, event_log.h


class _Steps:
    def __init__(self, session):
        self.session = session
        self.per_optimizer = {}
        self.optimizers = {}
        self.ends = []              # number of allocator events when each step ended
        self.peaks = []             # (allocated, reserved) so far, after each step
        wanted = os.environ.get("TIDEMARK_STEPS", "auto")
        self.limit = int(wanted) if wanted.isdigit() else None
        self.automatic = wanted == "auto"

    @property
    def count(self):
        return len(self.ends)

    def before(self, optimizer, args, kwargs):
        phases.phase.enter(phases.OPTIMIZER)
        mark(GRADIENTS, (p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None))

    def after(self, optimizer, args, kwargs):
        self.optimizers[id(optimizer)] = optimizer
        mark(OPTIMIZER_STATE, _tensors_of_state(optimizer))
        mark(PARAMETERS, (p for group in optimizer.param_groups for p in group["params"]))
        phases.phase.enter(phases.OTHER)
        done = self.per_optimizer[id(optimizer)] = self.per_optimizer.get(id(optimizer), 0) + 1
        if done <= self.count or not self.session.cuda_used or os.getpid() != self.session.pid:
            return
        self._step_ended()

    def _step_ended(self):
        import torch

        self.ends.append(door.library().tidemark_event_count())
        stats = torch.cuda.memory_stats(0)
        peak = (stats["allocated_bytes.all.peak"], stats["reserved_bytes.all.peak"])
        if self.peaks:   # a program that resets the statistics must not look as if its peak had fallen
            peak = tuple(max(a, b) for a, b in zip(peak, self.peaks[-1]))
        self.peaks.append(peak)
        _write_progress(self.session.run_dir, self.count, stats["allocated_bytes.all.current"], peak[0])
        if self._enough():
            self.stop()

    def _enough(self):
        if self.limit is not None:
            return self.count >= self.limit
        return self.automatic and self.count >= 3 and self.peaks[-1] == self.peaks[-3]

    def stop(self):
        """Leaves at once: what a program does after training (saving, evaluating) is not what it was run for."""
        self.session.finish(stopped_after_steps=self.count)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)


steps = None


def watch(session):
    global steps
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    steps = _Steps(session)
    register_optimizer_step_pre_hook(steps.before)
    register_optimizer_step_post_hook(steps.after)
    phases.watch_backward()


def mark(category, tensors):
    """Files the blocks that hold `tensors` under `category`."""
    addresses = array.array("Q", (a for a in map(_address, tensors) if a))
    if addresses:
        door.library().tidemark_mark(addresses.buffer_info()[0], len(addresses), category)


def _address(tensor):
    tensor = getattr(tensor, "_local_tensor", tensor)   # DTensor: this rank's part
    try:
        return tensor.untyped_storage().data_ptr() if tensor.is_cuda else 0
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0   # a wrapper without storage of its own


def _tensors_of_state(optimizer):
    import torch

    for state in optimizer.state.values():
        for value in state.values() if isinstance(state, dict) else ():
            if isinstance(value, torch.Tensor):
                yield value


def _write_progress(run_dir, step, now_bytes, peak_bytes):
    path = os.path.join(run_dir, "progress")
    with open(path + ".new", "w") as file:
        file.write(f"{step} {now_bytes} {peak_bytes}\n")
    os.replace(path + ".new", path)
