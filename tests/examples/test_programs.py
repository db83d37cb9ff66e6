"""Programs of every kind, good and bad: what they do reaches their user unchanged, and what they did to memory is in the report."""

import re

import pytest
from running import PYTHON, ROOT

pytestmark = pytest.mark.oracle

SETUP = """
import os, sys, torch
from torch import nn

def network(width=512, device="cuda"):
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).to(device)

def step(model, optimizer, batch=64, width=512):
    loss = model(torch.randn(batch, width, device="cuda")).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss
"""
TRAIN = (
    SETUP
    + """
model = network()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    step(model, optimizer)
"""
)
TO_THE_END = ("--keep-going",)


def ends_as_on_a_real_card(done):
    """The counters that the program itself printed last are the report's."""
    allocated, reserved = map(int, re.findall(r"^peak (\d+) (\d+)$", done.output, re.M)[-1])
    return (done.report["peak"]["allocated_bytes"], done.report["peak"]["reserved_bytes"]) == (allocated, reserved)


PEAK = "\nprint('peak', torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())\n"


FLAT = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.Linear(1024, 2048, bias=False))
flat, gradients = (torch.zeros(3 * 1024 * 1024 + 5 * 1024, device="cuda") for _ in range(2))
square = torch.zeros(8, 8, device="cuda", requires_grad=True)
(square @ square).sum().backward()   # cuBLAS takes its workspaces here
start = 0
for parameter in model.parameters():
    parameter.data = flat[start : start + parameter.numel()].view_as(parameter)
    parameter.grad = gradients[start : start + parameter.numel()].view_as(parameter)
    start += parameter.numel()
optimizer = torch.optim.SGD(model.parameters())
for _ in range(2):
    model(torch.zeros(1, 1024, device="cuda")).sum().backward()
    optimizer.step()
"""


@pytest.mark.slow("flat buffers by module")
def test_flat_buffers_are_shared_out_among_their_modules(run_code):
    """As ZeRO, DDP and Megatron lay parameters and gradients side by side."""
    peak = run_code(FLAT, options=TO_THE_END).report["at_peak"]
    by_module = {row["name"]: row["bytes"] for row in peak["by_module"]}
    weight = 4 << 20
    assert by_module["0"] == 2 * weight + 4096  # and its output
    assert by_module["1"] >= 2 * 2 * weight + 2 * weight  # and its gradient, before it is added
    assert by_module["(no module)"] >= 2 * 5 * 4096  # what no parameter takes
    assert sum(by_module.values()) == sum(row["bytes"] for row in peak["by_category"])


DEEP = """
import weakref
import torch
inner = {"torch": torch}
exec(compile("def allocate(depth): return allocate(depth - 1) if depth else torch.ones(2000, device='cuda')", "/site-packages/torch/deep.py", "exec"), inner)

def held_after(depth):
    mine = torch.ones(1000, device="cuda")
    inner["allocate"](depth)
    return weakref.ref(mine)

print("held", [held_after(depth)() is not None for depth in (1, 60, 70, 200, 800)], torch.cuda.memory_allocated())
"""


def test_frames_are_let_go_however_deep_a_call_is(run_code):
    """Compiling calls hundreds of functions of torch's deep; who kept one of its frames would keep the tensors of all that led to it."""
    done = run_code(DEEP, options=TO_THE_END)
    assert "held [False, False, False, False, False] 0" in done.output


# How a program ends


def test_never_steps(run_code):
    done = run_code("import torch\nx = torch.randn(512, 512, device='cuda')\nx @ x" + PEAK)
    assert done.exit_code == 0 and ends_as_on_a_real_card(done)
    assert done.category("workspace") >= 4 << 20  # cuBLAS's; cublasLt, which is given its own, was not called
    assert done.report["script"]["stopped_after_steps"] is None
    assert len(done.report["steps"]) == 1


def test_fewer_steps_than_asked_for(run_code):
    done = run_code(TRAIN + PEAK, options=("--steps", "10"))
    assert done.exit_code == 0 and ends_as_on_a_real_card(done)
    assert done.report["script"]["stopped_after_steps"] is None


@pytest.mark.slow("exit codes of each kind of end", keep=["sys.exit(3)-3", "os._exit(5)-5"])
@pytest.mark.parametrize(("ending", "code"), [("sys.exit(3)", 3), ("sys.exit('no more')", 1), ("raise SystemExit(4)", 4), ("os._exit(5)", 5), ("os._exit(0)", 0)])
def test_exit_codes(run_code, ending, code):
    done = run_code(TRAIN + ending)
    assert done.exit_code == (4 if code else 0)
    assert done.report["script"]["exit_code"] == code
    assert len(done.report["steps"]) == 2


def test_an_exception_looks_as_it_would_without_us(run, run_code, tmp_path):
    code = (
        SETUP
        + """
class Broken(nn.Module):
    def forward(self, x):
        try:
            return nn.functional.linear(x, x.new_zeros(3, 5))
        except RuntimeError as error:
            raise ValueError("broken") from error

model = nn.Sequential(nn.Identity(), Broken()).to(sys.argv[1])
model(torch.zeros(2, 4, device=sys.argv[1]))
"""
    )
    done = run_code(code, "cuda")
    plain = run([PYTHON, ROOT / "tests/oracle/programs/bare.py", tmp_path / "program.py", "cpu"], options=())
    frames = [re.findall(r'^  File "(.*)", line (\d+), in (.*)$', errors, re.M) for errors in (done.errors, plain.errors)]
    assert frames[0] == frames[1] and len(frames[0]) > 5
    assert done.exit_code == 4
    assert "ValueError: broken" in done.errors


def test_no_frame_of_ours_in_collected_tracebacks(run_code):
    done = run_code(
        SETUP
        + """
import logging, traceback
class Broken(nn.Module):
    def forward(self, x):
        raise KeyError("missing")
try:
    nn.Sequential(Broken())(torch.zeros(1, device="cuda"))
except KeyError as error:
    logging.exception("caught")
    print(traceback.format_exc(), *traceback.format_tb(error.__traceback__), *map(str, traceback.extract_tb(error.__traceback__)))
"""
    )
    assert done.exit_code == 0 and "KeyError" in done.output and "KeyError" in done.errors
    assert "tidemark/inside" not in done.output + done.errors


def test_own_excepthook(run_code):
    done = run_code(SETUP + "sys.excepthook = lambda kind, error, trace: print('hooked', kind.__name__)\ntorch.empty(200 << 30, dtype=torch.uint8, device='cuda')")
    assert "hooked OutOfMemoryError" in done.output
    assert done.exit_code == 1 and done.report["oom"]["requested_bytes"] == 200 << 30


# Out of memory


def test_out_of_memory_is_raised_where_it_happens(run_code):
    done = run_code(TRAIN + "keep = [torch.empty(10 << 30, dtype=torch.uint8, device='cuda') for _ in range(10)]")
    assert done.exit_code == 1 and done.report["fits"] is False
    assert "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 10.00 GiB" in done.errors
    assert done.report["oom"]["requested_bytes"] == 10 << 30
    assert done.report["oom"]["where"].startswith("program.py:") or "/program.py:" in done.report["oom"]["where"]


def test_windows_goes_on_beyond_the_card(run_code):
    code = "keep = [torch.empty(10 << 30, dtype=torch.uint8, device='cuda') for _ in range(10)]\nprint(torch.cuda.mem_get_info())"
    done = run_code(TRAIN + code, options=("--keep-going", "--windows"))
    assert done.exit_code == 1 and done.report["oom"] is None and "Windows keeps in host memory" in done.report["verdict"]
    assert done.report["peak"]["reserved_bytes"] >= 100 << 30 and "(0, " in done.output


def test_out_of_memory_while_loading_says_what_is_there(run_code):
    done = run_code(SETUP + "with torch.device('meta'):\n    model = nn.Sequential(*(nn.Linear(65536, 65536, bias=False) for _ in range(8)))\nmodel = model.to_empty(device='cuda')")
    assert done.exit_code == 1 and done.report["oom"]
    assert done.category("parameters") > 0.9 * done.report["peak"]["allocated_bytes"]


def test_caught_and_given_up(run_code):
    done = run_code(
        TRAIN
        + """
try:
    keep = [torch.empty(10 << 30, dtype=torch.uint8, device="cuda") for _ in range(10)]
except torch.OutOfMemoryError:
    print("it does not fit")
    sys.exit(7)
"""
    )
    assert "it does not fit" in done.output
    assert done.report["fits"] is False and done.report["oom"]


def test_caught_and_tried_again_smaller(run_code):
    done = run_code(
        SETUP
        + """
from accelerate.utils import find_executable_batch_size

@find_executable_batch_size(starting_batch_size=1 << 26)
def train(batch):
    print("batch", batch)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        step(model, optimizer, batch=batch)

train()
"""
        + PEAK,
        options=TO_THE_END,
    )
    assert done.exit_code == 0, done.errors[-2000:]
    batches = list(map(int, re.findall(r"^batch (\d+)$", done.output, re.M)))
    assert len(batches) > 1 and batches == sorted(batches, reverse=True)
    assert done.report["oom"] is None and ends_as_on_a_real_card(done)
    assert any("out of memory, caught by the program" in what for what in done.assumptions)


# Processes


@pytest.mark.slow("workers that are spawned", keep=["fork"])
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_data_loader_workers(run_code, how):
    done = run_code(
        SETUP
        + f"""
class Data(torch.utils.data.Dataset):
    def __len__(self): return 512
    def __getitem__(self, i): return torch.full((512,), float(i)), i

if __name__ == "__main__":
    model, seen = network(), []
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(Data(), batch_size=64, num_workers=2, pin_memory=True, multiprocessing_context={how!r})
    for x, i in loader:
        seen += i.cuda().tolist()
        model(x.cuda(non_blocking=True)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert sorted(seen) == list(range(512)), seen
    print("all seen")
""",
        options=TO_THE_END,
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert "all seen" in done.output and len(done.report["steps"]) == 8


@pytest.mark.slow("no worker stays behind")
def test_stopping_with_workers_leaves_no_process(run_code):
    import psutil

    done = run_code(
        SETUP
        + """
loader = torch.utils.data.DataLoader(torch.zeros(100000, 512), batch_size=64, num_workers=2, persistent_workers=True)
model = network()
optimizer = torch.optim.AdamW(model.parameters())
for x in loader:
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
    )
    assert done.exit_code == 0 and done.report["script"]["stopped_after_steps"] == 3
    assert not [process for process in psutil.process_iter(["cmdline"]) if any("program.py" in word and "test_stopping_with_workers" in word for word in process.info["cmdline"] or ())]


@pytest.mark.slow("trainings in spawned processes")
def test_spawned_processes_that_train(run_code):
    done = run_code(
        SETUP
        + """
import torch.multiprocessing as mp

def work(rank):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        step(model, optimizer)

if __name__ == "__main__":
    mp.spawn(work, nprocs=1)
    print("joined")
""",
        options=TO_THE_END,
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert "joined" in done.output and len(done.report["steps"]) >= 2


def test_cuda_in_a_forked_child_is_refused_as_by_pytorch(run_code):
    done = run_code(
        SETUP
        + """
torch.zeros(1, device="cuda")
if os.fork() == 0:
    torch.zeros(1, device="cuda")
_, status = os.wait()
print("child", os.waitstatus_to_exitcode(status))
"""
    )
    assert done.exit_code == 0 and "child 1" in done.output
    assert "Cannot re-initialize CUDA in forked subprocess" in done.errors


# Training loops


def test_two_optimizers(run_code):
    done = run_code(
        SETUP
        + """
generator, critic = network(), network()
for_generator, for_critic = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
for _ in range(10):
    for _ in range(2):
        critic(generator(torch.randn(64, 512, device="cuda")).detach()).sum().backward()
        for_critic.step()
        for_critic.zero_grad()
    critic(generator(torch.randn(64, 512, device="cuda"))).sum().backward()
    for_generator.step()
    for_generator.zero_grad()
"""
    )
    assert done.exit_code == 0 and done.report["script"]["stopped_after_steps"] == 3
    assert done.category("optimizer_state") >= 2 * 2 * 2 * 512 * 512 * 4


@pytest.mark.slow("two trainings in one program")
def test_a_second_training_in_the_same_program(run_code):
    """A model that the program drops is not kept alive by the one who watches."""
    done = run_code(
        SETUP
        + """
def train():
    model = network(4096)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        step(model, optimizer, width=4096)
train()
import gc; gc.collect()
print("left", torch.cuda.memory_allocated())
train()
"""
        + PEAK,
        options=TO_THE_END,
    )
    assert done.exit_code == 0 and ends_as_on_a_real_card(done)
    left = int(re.search(r"left (\d+)", done.output)[1])
    assert left < 64 << 20  # workspaces of cuBLAS
    assert len(done.report["steps"]) >= 3


def test_gradient_accumulation(run_code):
    done = run_code(
        SETUP
        + """
model = network()
optimizer = torch.optim.SGD(model.parameters())
for i in range(12):
    model(torch.randn(64, 512, device="cuda")).sum().backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
""",
        options=TO_THE_END,
    )
    assert done.exit_code == 0 and len(done.report["steps"]) == 3


LOOPS = {
    "empty_cache": "torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()",
    "pinned": "x = torch.randn(1 << 20).pin_memory(); assert x.is_pinned(); y = x.cuda(non_blocking=True); torch.cuda.synchronize()",
    "free_memory": "torch.cuda.empty_cache(); free = torch.cuda.mem_get_info()[0]; x = torch.empty(64 << 20, dtype=torch.uint8, device='cuda'); assert free - torch.cuda.mem_get_info()[0] == 64 << 20; del x",
    "finite_loss": "loss = step(model, optimizer); assert torch.isfinite(loss) and not torch.isnan(loss)",
    "streams": "side = torch.cuda.Stream()\nwith torch.cuda.stream(side):\n    y = torch.zeros(1 << 22, device='cuda')\ny.record_stream(torch.cuda.current_stream()); side.synchronize(); e = torch.cuda.Event(enable_timing=True); e.record(); e.synchronize(); del y",
    "ema": "import copy; ema = copy.deepcopy(model).eval().requires_grad_(False)\nwith torch.no_grad():\n    for a, b in zip(ema.parameters(), model.parameters()): a.lerp_(b, 0.1)",
    "half": "half = network().half(); assert half(torch.zeros(4, 512, device='cuda', dtype=torch.half)).dtype == torch.half",
    "evaluation": "model.eval()\nwith torch.no_grad(): model(torch.zeros(4096, 512, device='cuda'))\nmodel.train()",
    "checkpoint": "from torch.utils.checkpoint import checkpoint; checkpoint(model, torch.zeros(64, 512, device='cuda', requires_grad=True), use_reentrant=True).sum().backward()",
    "checkpoint_without_reentry": "from torch.utils.checkpoint import checkpoint; checkpoint(model, torch.zeros(64, 512, device='cuda'), use_reentrant=False).sum().backward()",
    "state_dict": "torch.save(model.state_dict(), os.devnull); model.load_state_dict(model.state_dict())",
    "optimizer_state_dict": "optimizer.load_state_dict(optimizer.state_dict())",
    "graphs": "static = torch.zeros(64, 512, device='cuda')\nmodel(static)\ngraph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n    out = model(static)\ngraph.replay(); del graph",
    "history": "torch.cuda.memory._record_memory_history(); model(torch.zeros(4, 512, device='cuda')); torch.cuda.memory._snapshot(); torch.cuda.memory._record_memory_history(enabled=None)",
    "profiler": "from torch.profiler import profile\nwith profile(): step(model, optimizer)",
    "fraction": "torch.cuda.set_per_process_memory_fraction(0.5); print(torch.cuda.mem_get_info(), torch.cuda.memory_summary()[:20])",
    "zero_grad_to_zero": "optimizer.zero_grad(set_to_none=False); model(torch.zeros(4, 512, device='cuda')).sum().backward()",
    "threads": "import threading; t = threading.Thread(target=lambda: model(torch.zeros(4, 512, device='cuda'))); t.start(); t.join()",
    "settings": "torch.backends.cuda.matmul.allow_tf32 = True; torch.set_float32_matmul_precision('high'); torch.use_deterministic_algorithms(True, warn_only=True)",
    "lbfgs": "lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=2)\nlbfgs.step(lambda: model(torch.zeros(4, 512, device='cuda')).sum())",
}
TOGETHER = ("empty_cache", "free_memory", "pinned", "finite_loss", "streams", "checkpoint", "graphs", "state_dict", "fraction")  # in one process


@pytest.mark.slow("what public loops do, each apart: profiler, EMA, threads, LBFGS, …", keep=["together"])
@pytest.mark.parametrize("names", [TOGETHER, *((name,) for name in LOOPS)], ids=["together", *LOOPS])
def test_what_loops_do(run_code, names):
    bodies = "\n".join(LOOPS[name] for name in names)
    done = run_code(TRAIN + bodies + "\nstep(model, optimizer)\nstep(model, optimizer)\n", options=TO_THE_END)
    assert done.exit_code == 0, done.errors[-2000:]
    assert done.report["fits"] and len(done.report["steps"]) >= 4
    assert "pinned" not in names or done.report["host"]["pinned_bytes"] >= 4 << 20


def test_training_in_a_forked_child(run_code):
    done = run_code(
        """
import os, torch

def train():
    model = torch.nn.Linear(512, 512).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.zeros(4, 512, device="cuda")).sum().backward()
        optimizer.step()

child = os.fork()
if child == 0:
    train()
    os._exit(0)
print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
        options=("--keep-going",),
    )
    assert done.exit_code == 0, done.errors
    assert "child ended with 0" in done.output
    assert len(done.report["steps"]) >= 3 and done.report["consistent"]
