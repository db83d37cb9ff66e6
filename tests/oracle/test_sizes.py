"""The report's figures are PyTorch's own, to the byte: per step and per phase."""

import json

import pytest
from harness import PROGRAMS, report_of

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", ["mlp", "llama", "accumulating"])
def test_steps_and_phases(tmp_path, name):
    report, output = report_of(PROGRAMS / "small_trainings.py", name, folder=tmp_path)
    own = json.loads(output.splitlines()[0])
    assert len(report["steps"]) >= len(own["steps"])
    for theirs, ours in zip(own["steps"], report["steps"]):
        found = {row["phase"]: row["peak_allocated_bytes"] for row in ours["phases"]}
        for phase in ("forward", "backward", "optimizer"):
            assert found[phase] == theirs[phase], (ours["step"], phase)
    assert report["steps"][-1]["peak_reserved_bytes"] == own["reserved"]
    assert report["peak"]["allocated_bytes"] == max(max(step.values()) for step in own["steps"])
