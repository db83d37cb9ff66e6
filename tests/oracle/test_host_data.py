"""Host tensors: true where somebody wrote them, and no memory where nobody did."""

import json

import pytest
from harness import PROGRAMS, tidemark_run

pytestmark = pytest.mark.oracle


def test_what_is_written_is_true_and_what_is_not_takes_no_memory():
    done = tidemark_run(PROGRAMS / "host_data.py", timeout=300)
    line = next((text for text in done.stdout.splitlines() if text.startswith('{"passed"')), None)
    assert line, done.stdout + done.stderr
    result = json.loads(line)
    assert not result["failed"], "\n".join(f"{name}: {why}" for name, why in result["failed"].items())
    assert result["passed"] >= 40
