"""The end of a run without `--steps`, decided on peaks alone."""

import pytest
from tidemark.inside import steps


@pytest.mark.parametrize(
    "allocated, reserved, ends",
    [
        ([5, 9], [10, 10], False),
        ([5, 9, 9], [10, 10, 10], False),  # the states of the optimizer appear in the first step
        ([5, 9, 9, 9], [10, 10, 12, 12], False),
        ([5, 9, 9, 9], [10, 12, 12, 12], True),
    ],
)
def test_run_ends_after_three_steps_of_equal_peaks(allocated, reserved, ends, monkeypatch):
    monkeypatch.delenv("TIDEMARK_STEPS", raising=False)
    counted = steps._Steps(session=None)
    counted.ends, counted.allocated_peaks, counted.reserved_peaks = list(range(len(allocated))), allocated, reserved
    assert counted._enough() is ends
