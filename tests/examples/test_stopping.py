"""Where a run ends without `--steps`, and what is said of a peak that may yet rise."""

import pytest

pytestmark = pytest.mark.oracle

TRAIN = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(1000, 64), nn.Linear(64, 1000)
    def forward(self, input_ids, labels=None):
        hidden = checkpoint(nn.Identity(), self.embed(input_ids), use_reentrant=False)
        return self.head(hidden).float().square().mean()

model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step, length in enumerate({lengths}):
    batch = dict(input_ids=torch.zeros(4, length, dtype=torch.long, device="cuda"), labels=torch.zeros(4, device="cuda"))
    model(**batch).backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        model(torch.zeros(1, step + 1, dtype=torch.long, device="cuda"))   # an evaluation is no batch
"""
VARYING = "[90, 90, 40, 40, 40, 40, 40, 40, 300, 80]"  # settles before the long one comes


def test_batches_that_vary_make_it_at_least(run_code):
    done = run_code(TRAIN.format(lengths=VARYING), options=())
    assert done.exit_code == 0, done.errors[-2000:]
    stopped = done.report["script"]["stopped_after_steps"]
    assert 4 <= stopped <= 8
    assert done.report["varying_inputs"] == [{"name": "input_ids", "shapes": 2, "smallest": [4, 40], "largest": [4, 90]}]
    assert done.report["verdict"].startswith("fits so far: peak at least ")
    assert f"  stopped after {stopped} steps, while batches varied: input_ids 4x40 to 4x90 (2 shapes); " in done.output


@pytest.mark.slow("whole runs")
def test_a_whole_run_has_seen_them_all(run_code):
    stopped, whole = (run_code(TRAIN.format(lengths=VARYING), options=options) for options in ((), ("--keep-going",)))
    assert whole.report["varying_inputs"] == [{"name": "input_ids", "shapes": 4, "smallest": [4, 40], "largest": [4, 300]}]
    assert whole.report["verdict"].startswith("fits: peak ") and "at least" not in whole.output
    assert whole.peak > stopped.peak  # which is why the other said so


def test_batches_of_one_shape(run_code):
    done = run_code(TRAIN.format(lengths="[90] * 6"), options=())
    assert done.report["script"]["stopped_after_steps"] and "varying_inputs" not in done.report
    assert done.report["verdict"].startswith("fits: peak ")
