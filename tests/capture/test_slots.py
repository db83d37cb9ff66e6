"""What a module keeps of its last call alone is told by one name: the next call lets go of it, in the next step, too."""

import pytest
from test_dtypes import run

pytestmark = pytest.mark.oracle


def test_each_call_keeps_its_own_and_the_caller_lets_go_of_it():
    done = run("of_its_last_call.py")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in lines if "keep" in line] == ["keep self.of_its_last_call=%1"] * 2, done.stdout + done.stderr[-2000:]
    calls = [i for i, line in enumerate(lines) if "call places" in line]
    assert all("^" not in lines[i] for i in calls)
    assert [lines[i + 2].split()[0] for i in calls] == ["del", "del"]
