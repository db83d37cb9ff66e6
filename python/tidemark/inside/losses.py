"""What this run does without, and why: said in the report and on stderr.

Whatever of ours fails inside the user's process costs what it was for, and never becomes an exception of theirs.
"""

import functools
import gc
import os
import signal
import sys

from . import collector

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_lost = {}  # (what is missing, why) → how often


def note(without, why):
    """`without`: what a run does without it; `why`: one clause."""
    _lost[without, why] = _lost.get((without, why), 0) + 1


def rows():
    """For the report's assumptions."""
    return [{"what": f"{without} ({why})", "where": "", "count": count} for (without, why), count in _lost.items()]


def guarded(without):
    """Decorates a function of ours: an exception that leaves it is noted, and None is returned.  One of a signal handler that the program has
    installed is the program's, wherever it struck.  The collector is held (collector.py)."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args):
            enabled, before = gc.isenabled(), collector.count.value
            gc.disable()
            try:
                return function(*args)
            except Exception as error:  # only its text is kept: the traceback would keep the user's tensors
                if _raised_by_a_signal_handler(error):
                    raise
                note(without, f"Tidemark's own fault: {described(error)}")
                return None
            finally:
                collector.count.value = before
                if enabled:
                    gc.enable()

        return call

    return decorate


def _raised_by_a_signal_handler(error):
    """As a DataLoader's does when a worker has died (torch/utils/data/_utils/signal_handling.py)."""
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()} - {None}
    return any(entry.tb_frame.f_code in handlers for entry in _entries(error))


def _entries(error):
    """Those of its traceback, with our frames, which `traceback` leaves out (tracebacks.py)."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def described(error):
    """`TypeError: 'list' object is not callable (modules.py:69)`: the last line of ours that led to it."""
    ours = [(entry.tb_frame.f_code.co_filename, entry.tb_lineno) for entry in _entries(error)]
    ours = [f" ({os.path.basename(file)}:{line})" for file, line in ours if file.startswith(_HERE)]
    where = ours[-1] if ours else ""
    return f"{type(error).__name__}: {error}".split("\n")[0] + where


def say():
    """On stderr, what the launcher cannot have said: it knows of parts that were not made (apps/cli/torch_extension.h)."""
    for (without, why), _ in _lost.items():
        print(f"tidemark: {why}: {without}", file=sys.stderr)
