"""`tidemark plan --vary` of real programs: what it finds is what single runs find."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from running import PYTHON, ROOT, TIDEMARK

pytestmark = pytest.mark.oracle

TRAIN = """
import os, sys
import torch
from torch import nn

batch = int(sys.argv[1])
model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
if "RANK" in os.environ:
    torch.distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(batch, 256, 512, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CARD = ("--gpu", "rtx-3060", "--memory", "2GiB")


@pytest.fixture
def plan(tmp_path, temporary):
    """plan(command, *options) -> CompletedProcess, result.  Checks that nothing is left behind."""

    def start(command, *options):
        environment = {**os.environ, "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
        words = [TIDEMARK, "plan", *CARD, "--json", str(tmp_path / "result.json"), *options, "--", *map(str, command)]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
        assert not [path for path in temporary.iterdir() if not path.name.startswith("torchelastic_")]
        return done, json.loads((tmp_path / "result.json").read_text()) if done.returncode < 2 else None

    return start


@pytest.mark.slow("`plan --vary` by torchrun")
@pytest.mark.parametrize("launcher, world", [([PYTHON], []), ([Path(PYTHON).parent / "torchrun", "--nproc-per-node", "2"], ["--gpus", "2"])], ids=["python", "torchrun"])
def test_the_largest_batch(plan, run, tmp_path, launcher, world):
    program = tmp_path / "train.py"
    program.write_text(TRAIN)
    done, result = plan([*launcher, program, "{batch}"], "--vary", "batch=1..400", "--steps", "3", *world)
    assert done.returncode == 0, done.stderr[-3000:]
    [[largest]] = [row.values() for row in result["largest"]]
    tried = {int(one["values"]["batch"]): one for one in result["runs"]}
    assert len(tried) == len(result["runs"]) <= 9 and result["contradictions"] == []
    for batch, fits in ((int(largest), True), (int(largest) + 1, False)):
        alone = run([*launcher, program, batch], gpu=CARD[1], options=(*CARD[2:], "--steps", "3", *world))
        assert alone.exit_code == (0 if fits else 1), alone.errors[-2000:]
        assert tried[batch]["fits"] == fits == (alone.report["fits"] is True)
        assert tried[batch]["verdict"] == alone.report["verdict"]


def test_a_program_that_cannot_go_on(plan, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(TRAIN)
    done, _ = plan([PYTHON, program, "{batch}x"], "--vary", "batch=1..4")
    assert done.returncode == 4
    assert "ValueError: invalid literal for int() with base 10: '" in done.stderr and "and with it the search" in done.stderr
