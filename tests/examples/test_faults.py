"""What can happen to a program: it is said by its name, with the right exit code, and nothing is left behind (the fixture `run` looks)."""

import pytest

pytestmark = pytest.mark.oracle

LOADER = """
import os, signal, torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 4000
    def __getitem__(self, i):
        if i == {killed_at}:
            os.kill(os.getpid(), signal.SIGKILL)   # as the kernel does when the host's memory is used up
        return torch.ones(64)

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(Data(), batch_size=4, num_workers=3):
    model(batch.cuda()).sum().backward()
    optimizer.step()
"""


def test_a_worker_that_is_killed(run_code):
    done = run_code(LOADER.format(killed_at=400), options=("--keep-going",))
    assert done.exit_code == 4, done.errors[-2000:]
    assert "killed by signal" in done.errors and "tidemark/inside" not in done.errors
    assert "lost sys.stderr" not in done.errors and "fault" not in done.errors   # torch's handler raises wherever the program is, in our functions too
    assert done.report["verdict"].startswith("not known: the program ended with exit code 1; until then its peak was ")


def test_workers_of_a_run_that_is_stopped_say_nothing(run_code):
    done = run_code(LOADER.format(killed_at=-1), options=("--steps", "3"))
    assert done.exit_code == 0, done.errors[-2000:]
    assert "Traceback" not in done.errors and "pymp" not in done.errors
