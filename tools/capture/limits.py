"""A limit on the time that a model of any kind may take."""

import contextlib
import signal


class TooSlow(BaseException):   # a model's own `except Exception` must not take it
    pass


@contextlib.contextmanager
def at_most(seconds):
    """Raises TooSlow in what is done within it."""

    def too_slow(*_):
        raise TooSlow(f"over {seconds} seconds")

    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
