"""Our wrappers (`Module.__call__`, `from_pretrained`, …) stand on the user's stack; in tracebacks they are left out.

Tracebacks are printed in two places: by the interpreter, for an exception that nobody caught, and by Python's `traceback` module, for
everybody else (`logging`, `print_exc`, data loader workers, torchrun's error files).
"""

import os
import signal
import sys
import traceback

from . import leaving, relied_on

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _is_ours(entry):
    return entry.tb_frame.f_code.co_filename.startswith(_HERE)


def without_our_frames(entries):
    """The same traceback, relinked past our frames.  One that ends in a frame of ours is our own doing, and stays."""
    if _ends_with_us(entries):
        return entries
    first = entries
    while first is not None and _is_ours(first):
        first = first.tb_next
    last = first
    while last is not None:
        following = last.tb_next
        while following is not None and _is_ours(following):
            following = following.tb_next
        if following is not last.tb_next:
            last.tb_next = following
        last = following
    return first


def _ends_with_us(entries):
    while entries is not None and entries.tb_next is not None:
        entries = entries.tb_next
    return entries is not None and _is_ours(entries)


def clean(error):
    """Relinks the tracebacks of `error` and of the exceptions that led to it."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = without_our_frames(error.__traceback__)
        if error.__cause__ is not None and error.__context__ is not error.__cause__:
            clean(error.__cause__)
        error = error.__context__


def watch(on_uncaught):
    """Calls `on_uncaught(error)` when an exception ends the program, keeps our frames out of what is printed, and names a killed child, which may
    be what the exception comes from without a word of it (a connection that was reset)."""
    real_hook = sys.excepthook

    def hook(kind, error, entries):
        with leaving.undisturbed():
            on_uncaught(error)
            clean(error)
            real_hook(kind, error, without_our_frames(entries))
            leaving.say_who_was_killed(wait_seconds=1.0 if isinstance(error, (OSError, EOFError)) else 0.0)

    sys.excepthook = hook
    relied_on.enable("dead_workers", lambda: _silence_dead_workers_in(hook))
    for name in ("walk_tb", "_walk_tb_with_full_positions"):  # through one of these goes all of `traceback`
        if hasattr(traceback, name):
            setattr(traceback, name, _leaving_us_out(getattr(traceback, name)))


def _silence_dead_workers_in(function):
    """A DataLoader's SIGCHLD handler does not raise while `function` runs, whose first instruction no `try` can enclose
    (torch/utils/data/_utils/signal_handling.py, `handler`, torch 2.6 to 2.15)."""
    signal_handling = sys.modules["torch.utils.data._utils.signal_handling"]
    set_handler = signal_handling._set_SIGCHLD_handler

    def set_quiet_handler():
        before = signal.getsignal(signal.SIGCHLD)
        set_handler()
        handler = signal.getsignal(signal.SIGCHLD)
        if handler is not before:
            signal.signal(signal.SIGCHLD, lambda number, frame: _runs(function, frame) or handler(number, frame))

    signal_handling._set_SIGCHLD_handler = set_quiet_handler


def _runs(function, frame):
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def _leaving_us_out(walk):
    return lambda entries: walk(without_our_frames(entries))
