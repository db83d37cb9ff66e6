"""A limit on the time that a model of any kind may take: the processor's, so that it is the same on a machine that does other things too."""

import contextlib
import signal


class TooSlow(BaseException):  # a model's own `except Exception` must not take it
    pass


@contextlib.contextmanager
def at_most(seconds):
    """Raises TooSlow in what is done within it."""

    def too_slow(*_):
        raise TooSlow(f"over {seconds} seconds")

    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
