"""`--data all`: the peak of an epoch whose batches vary, of which some were trained on, is that of the program that trains on all of them."""

from pathlib import Path

import pytest
from running import PYTHON

pytestmark = pytest.mark.oracle
HERE = Path(__file__).parent / "epochs"
PROGRAMS = {"text": ["text.py"], "images": ["images.py"], "speech": ["speech.py"], "padded": ["sft.py", "padded"], "packed": ["sft.py", "packed"], "grpo": ["grpo.py"]}


@pytest.mark.slow("`--data all` for each kind of varying batch")
@pytest.mark.parametrize("name, gpu", [*((name, "a100-80gb") for name in PROGRAMS), ("text", "h100-80gb")])
def test_some_batches_tell_of_all(run, name, gpu):
    program, *arguments = PROGRAMS[name]
    some, whole = (run([PYTHON, HERE / program, *arguments], options=options, gpu=gpu) for options in (("--data", "all"), ("--keep-going",)))
    assert some.exit_code == whole.exit_code == 0, some.errors[-2000:] + whole.errors[-2000:]
    data = some.report["data"]
    assert data["whole"], data["why"]
    assert data["trained_batches"] < data["batches"]
    for key in ("peak", "at_peak", "interval"):
        assert some.report[key] == whole.report[key], key
    assert f"  an epoch of {data['batches']} batches, {data['trained_batches']} trained on, the others replayed: the peak of them all" in some.output
    assert "at least" not in some.output


def test_the_automatic_stop_alone_says_at_least(run):
    done = run([PYTHON, HERE / "text.py"], options=())
    assert done.report["script"]["stopped_after_steps"] < 120
    assert "at least" in done.report["verdict"]


SHORT = """
import torch
from torch.utils.data import DataLoader

layer = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(layer.parameters())
batches = [torch.ones(length, 64) for length in (5, 900, 7, 300, 8, 2)]
for epoch in range(50):
    for batch in DataLoader(batches, batch_size=None):
        layer(batch.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def test_a_short_epoch_is_trained_whole(run_code):
    done = run_code(SHORT, options=("--data", "all"))
    assert done.report["data"] == {
        "batches": 6,
        "trained_batches": 6,
        "batches_per_step": 1,
        "whole": True,
        "largest_trained": True,
        "inputs": [{"name": "input", "shapes": 6, "smallest": [2, 64], "median": [7, 64], "p90": [300, 64], "largest": [900, 64]}],
    }
    assert 6 <= done.report["script"]["stopped_after_steps"] <= 8
    assert done.report["verdict"].startswith("fits: peak ")


@pytest.mark.slow("a part of an epoch")
def test_a_part_of_an_epoch_is_at_least(run_code):
    done = run_code(SHORT, options=("--data", "4"))
    assert not done.report["data"]["whole"] and done.report["data"]["batches"] == 4
    assert done.report["verdict"].startswith("fits so far: peak at least ")
    assert "only 4 batches were drawn" in done.output
