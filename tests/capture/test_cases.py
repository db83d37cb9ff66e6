"""What sizes of a family are to each other, with models that are arithmetic."""

import types

from tidemark.capture.cases import _by_window


def windowed(tokens):
    """A family whose looks have so many tokens, and of which more is done where a window has fewer."""

    class Seen:
        def __init__(self, keys):
            self.over = tokens >= keys["sliding_window"]

        def does_as(self, other, merger):
            return self.over == other.over

    return types.SimpleNamespace(base={"sliding_window": 16}, tokens=tokens, brief=Seen, runs=lambda keys: False)


def test_texts_within_a_window_are_captured_with_windows_that_differ():
    """Phi-3-mini-128k: a cache is cut to its window, 262,144, less one; with one wide window in all captures that was a number, and 8,192 tokens were too many."""
    within, over = _by_window(windowed(96))
    assert (within.conditions, over.conditions) == (("S < sliding_window",), ("S >= sliding_window",))
    wide = [within.keys({"sliding_window": window})["sliding_window"] for window in (16, 48)]
    assert wide[0] != wide[1] and min(wide) > 4096
    assert over.keys({"sliding_window": 48}) == {"sliding_window": 48}
