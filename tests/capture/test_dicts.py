"""What a layer puts into a dict that it is given: its checkpoint holds the dict."""

import pytest
from test_dtypes import run

pytestmark = pytest.mark.oracle


def test_a_layer_that_fills_a_dict_says_so():
    done = run("shared_dict.py")
    calls = [line.strip() for line in done.stdout.splitlines() if " = call " in line]
    assert [line.endswith(" !shared") for line in calls] == ["layers.1:" in line for line in calls] and len(calls) == 3, done.stdout + done.stderr[-2000:]
