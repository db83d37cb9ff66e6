"""Limits on processor time."""

import time

import pytest
from limits import TooSlow, at_most


def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_what_takes_too_long_ends_even_where_exceptions_are_caught():
    with pytest.raises(TooSlow, match="over 1 seconds"):
        with at_most(1):
            try:
                work(5)
            except Exception:
                pytest.fail("a model's own handler took it")


def test_what_is_quick_is_left_alone():
    with at_most(1):
        pass
    work(1.2)
