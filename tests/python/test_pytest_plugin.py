"""The pytest plugin, in sessions of pytest's own."""

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 3200}
TEST = """
import pytest
SMALL = %r

@pytest.mark.fits("l4")
def test_small(gpu_memory):
    report = gpu_memory.predict(SMALL, batch=%d, seq=512)
    assert report.card.key == "l4"
    gpu_memory.assert_not_raised(report)
"""


@pytest.fixture
def session(built, pytester, monkeypatch):
    """session(text, *options): the result of a test file."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2] / "python"))

    def run(text, *options):
        pytester.makepyfile(test_memory=text)
        return pytester.runpytest_subprocess("-p", "tidemark.pytest_plugin", "--strict-markers", *options)

    return run


def test_memory_that_rises_fails(session, pytester):
    session(TEST % (SMALL, 4)).stdout.fnmatch_lines(["*no memory is stored for this test*--gpu-memory-update*"])
    session(TEST % (SMALL, 4), "--gpu-memory-update").assert_outcomes(passed=1)
    stored = json.loads((pytester.path / "memory_snapshots/test_memory/test_small.json").read_text())
    assert stored["peak"]["allocated_bytes"] > 0 and stored["by_category"]["parameters"] > 0
    session(TEST % (SMALL, 4)).assert_outcomes(passed=1)
    more = session(TEST % (SMALL, 5))
    more.assert_outcomes(failed=1)
    more.stdout.fnmatch_lines(["*it takes more GPU memory than before:*", "*allocated * -> * bytes, +* %*", "*of which at the peak activations: +*"])
    less = session(TEST % (SMALL, 3))
    less.assert_outcomes(passed=1, warnings=1)
    less.stdout.fnmatch_lines(["*less memory than is stored*"])


def test_more_may_be_allowed(session):
    session(TEST % (SMALL, 4), "--gpu-memory-update")
    session((TEST % (SMALL, 5)).replace("assert_not_raised(report)", "assert_not_raised(report, by_bytes=1 << 40)")).assert_outcomes(passed=1)


def test_each_case_has_its_own(session, pytester):
    text = f"""
import pytest
@pytest.mark.parametrize("seq", [64, 128])
def test_it(gpu_memory, seq):
    gpu_memory.assert_not_raised(gpu_memory.predict({SMALL!r}, gpu="l4", seq=seq), "the step")
"""
    session(text, "--gpu-memory-update").assert_outcomes(passed=2)
    assert sorted(path.name for path in (pytester.path / "memory_snapshots/test_memory").iterdir()) == ["test_it_128_-the_step.json", "test_it_64_-the_step.json"]
    session(text).assert_outcomes(passed=2)


def test_what_does_not_fit_fails(session):
    result = session(f"""
import pytest
@pytest.mark.fits("l4", memory="2GiB")
def test_it(gpu_memory):
    gpu_memory.predict({SMALL!r}, batch=64, seq=1024)
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*it does not fit: does not fit*", "*activations: * bytes*"])


def test_without_a_mark_it_need_not_fit(session):
    session(f"""
def test_it(gpu_memory):
    assert gpu_memory.predict({SMALL!r}, batch=64, seq=1024, gpu="l4", memory="2GiB").fits is False
""").assert_outcomes(passed=1)


def test_a_mistake_is_told(session):
    session(f"""
def test_it(gpu_memory):
    gpu_memory.predict({SMALL!r}, bach=64, seq=1024, gpu="l4")
""").stdout.fnmatch_lines(["*did you mean batch?*"])


def test_the_plugin_is_an_entry_point():
    assert 'tidemark = "tidemark.pytest_plugin"' in (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
