"""What this run does without, and why: said in the report and on stderr.

Whatever of ours fails inside the user's process costs what it was for, and never becomes an exception of theirs.
"""

import functools
import gc
import os
import signal
import sys
import traceback

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
    entry = error.__traceback__  # not by `traceback`, which leaves our frames out (tracebacks.py)
    while entry is not None and entry.tb_frame.f_code not in handlers:
        entry = entry.tb_next
    return entry is not None


def described(error):
    """`TypeError: 'list' object is not callable (modules.py:69)`: the last line of ours that led to it."""
    ours = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith(_HERE)]
    where = f" ({os.path.basename(ours[-1].filename)}:{ours[-1].lineno})" if ours else ""
    return f"{type(error).__name__}: {error}".split("\n")[0] + where


def say():
    """On stderr, what the launcher cannot have said: it knows of parts that were not made (apps/cli/torch_extension.h)."""
    for (without, why), _ in _lost.items():
        print(f"tidemark: {why}: {without}", file=sys.stderr)
