"""The report's figures are PyTorch's own, to the byte: per step and per phase."""

import json
import subprocess

import pytest
from harness import PROGRAMS, PYTHON, ROOT, TIDEMARK, report_of

pytestmark = pytest.mark.oracle


@pytest.mark.slow("figures of steps with an MLP, and with accumulation", keep=["llama"])
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


def test_eight_cards_have_addresses_for_expandable_segments():
    """Of a node's eight cards one is played, and the others' addresses are kept free."""
    options = ["--quiet", "--keep-going", "--gpu", "h100-80gb", "--gpus", "8", "--allocator", "expandable_segments:True"]
    program = [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "8", str(PROGRAMS / "expandable_segments.py")]
    done = subprocess.run([TIDEMARK, "run", *options, "--", *program], cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert str(8 * ((4 << 10) + (16 << 20))) in done.stdout.split()
