"""What sizes of a family are to each other, with models that are arithmetic."""

import os
import pathlib
import subprocess
import types

import pytest
from tidemark.capture import cases
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


@pytest.mark.parametrize("told", [True, False])
def test_a_condition_that_is_held_chooses_where_it_is_told_apart(monkeypatch, told):
    """Mllama of transformers 5.17.0 repeats keys whether they are fewer or not."""
    fewer = [cases.Case(("kv < heads",)), cases.Case(("kv == heads",))] if told else [cases.Case(())]
    for name in [name for name in vars(cases) if name.startswith("_by_")]:
        monkeypatch.setattr(cases, name, lambda family: [cases.Case(())])
    monkeypatch.setattr(cases, "_by_heads", lambda family: fewer)
    assert [case.conditions for case in cases.cases_of(types.SimpleNamespace(alone=["kv < heads"]))] == [fewer[0].conditions]


@pytest.mark.oracle
def test_experts_of_a_class_without_sdpa_are_run_in_all_ways():
    """gpt-oss has eager attention alone: no model of it is to be made with another, only to ask how its experts can be run."""
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", os.environ["TIDEMARK_PYTHON"], str(pathlib.Path(__file__).resolve().parent / "eager_experts.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "ways grouped_mm batched_mm eager" in done.stdout.splitlines(), done.stdout + done.stderr[-2000:]
