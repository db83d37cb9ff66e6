"""Whatever the program's objects or the libraries are like: a fault of ours, or a private name that a release has lost, is said, and the program goes on."""

import pytest
from harness import report_of, tidemark_run

pytestmark = pytest.mark.oracle

PROGRAM = """
import torch
class Wrapped(torch.nn.Module):     # as Megatron-LM's DistributedDataParallel, whose buffers are a list
    def __init__(self, module):
        super().__init__()
        self.module, self.buffers, self.parameters, self.modules, self.named_modules, self.children = module, [], None, 3, "", ()
    def forward(self, x):
        return self.module(x)
inner = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.BatchNorm1d(1024)).cuda()
model = Wrapped(inner)
optimizer = torch.optim.SGD(inner.parameters(), momentum=0.9)
for _ in range(3):
    model(torch.randn(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
print("peak", torch.cuda.max_memory_allocated())
"""
# Found by the sitecustomize that ours runs next, before torch is imported.
LOSE = """
import dataclasses, os
from tidemark.inside import relied_on
for name in os.environ["LOST_NAMES"].split():
    relied_on.FEATURES[name] = dataclasses.replace(relied_on.FEATURES[name], names=("torch:_gone",))
"""
FAIL = """
from tidemark.inside import marks
def mark(category, owned):
    raise RuntimeError("cannot mark")
marks.mark = mark
"""


def run(tmp_path, sitecustomize="", **environment):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "sitecustomize.py").write_text(sitecustomize)
    return report_of(program, folder=tmp_path, environment={"PYTHONPATH": str(tmp_path), **environment})


def names(report, group):
    return {row["name"]: row["bytes"] for row in report["at_peak"][group]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))[0]


def test_attributes_with_the_names_of_methods(whole):
    assert not any("fault" in row["what"] for row in whole["assumptions"])
    assert any(name.startswith("module.") for name in names(whole, "by_module"))
    assert names(whole, "by_category")["parameters"] > 4 << 20


def test_a_fault_of_ours_costs_its_part_alone(whole, tmp_path):
    report, output = run(tmp_path, FAIL)
    assert f"peak {report['peak']['allocated_bytes']}" in output
    assert report["peak"] == whole["peak"] and len(report["steps"]) == len(whole["steps"])
    assert any(row["what"].startswith("parameters are not told from activations (Tidemark's own fault: RuntimeError: cannot mark") for row in report["assumptions"])


@pytest.mark.slow("each name of torch that a release may lose", keep=["optimizer_steps"])
@pytest.mark.parametrize("feature", ["cuda_begins", "backward_phase", "higher_order_operators", "integers_in_threads", "optimizer_steps"])
def test_a_name_that_a_release_has_lost(whole, tmp_path, feature):
    report, _ = run(tmp_path, LOSE, LOST_NAMES=feature)
    assert [report["peak"][key] for key in ("allocated_bytes", "reserved_bytes")] == [whole["peak"][key] for key in ("allocated_bytes", "reserved_bytes")]
    assert any("has no torch._gone, which" in row["what"] for row in report["assumptions"])


HANDLER = """
import signal
class Stopped(Exception):
    pass
def on_alarm(number, frame):
    raise Stopped
signal.signal(signal.SIGALRM, on_alarm)
from tidemark.inside import marks
real_mark = marks.mark
def mark(category, owned):
    marks.mark = real_mark
    signal.raise_signal(signal.SIGALRM)
marks.mark = mark
"""


def test_an_exception_of_a_signal_handler_is_the_programs(tmp_path):
    """As that of torch's data loader when a worker has died: it strikes wherever the program is, in our functions too."""
    program = tmp_path / "program.py"
    program.write_text(f"import torch\n{HANDLER}\n{PROGRAM}")
    done = tidemark_run(program)
    assert done.returncode == 4 and "raise Stopped" in done.stderr, done.stderr
    assert "fault" not in done.stdout + done.stderr
