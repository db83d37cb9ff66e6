"""What can happen to a program: it is said by its name, with the right exit code, and nothing is left behind (the fixture `run` looks for files, `interrupted` for processes too)."""

import fcntl
import os
import re
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest
from running import PYTHON, TIDEMARK

pytestmark = pytest.mark.oracle

PATIENCE = 110  # seconds, on a machine that does much else

LOADER = """
import os, signal, torch
from torch.utils.data import DataLoader, Dataset

def dies(*_):
    {death}

class Data(Dataset):
    def __len__(self):
        return 4000
    def __getitem__(self, i):
        if i == {killed_at}:
            signal.signal(signal.SIGUSR1, dies)
            signal.raise_signal(signal.SIGUSR1)
        return torch.ones(64)

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(Data(), batch_size=4, num_workers=3):
    model(batch.cuda()).sum().backward()
    optimizer.step()
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)   # as the kernel does when the host's memory is used up"


@pytest.mark.slow("a DataLoader worker that dies, in each way", keep=["killed"])
@pytest.mark.parametrize(("death", "name"), [(KILL, "SIGKILL"), ("os.abort()", "SIGABRT"), ("raise RuntimeError('in a handler')", None)], ids=["killed", "aborted", "raises"])
def test_a_worker_that_dies_in_a_signal_handler(run_code, death, name):
    done = run_code(LOADER.format(killed_at=400, death=death), options=("--keep-going",), timeout=PATIENCE)
    assert done.exit_code == 4, done.errors[-2000:]
    assert ("killed by signal" if name else "in a handler") in done.errors and "tidemark/inside" not in done.errors
    assert "lost sys.stderr" not in done.errors and "fault" not in done.errors.replace("default", "")  # torch's handler raises wherever the program is, in our functions too
    assert done.report["verdict"].startswith("not known: the program ended with exit code 1; until then its peak was ")


# The signal arrives after the error and before the first instruction of sys.excepthook: C code sends it in an audit hook.
DEATH_AT_THE_HOOK = """
import ctypes, os, signal, sys, torch
from torch.utils.data._utils import signal_handling

child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGKILL)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
signal_handling._set_worker_pids(1, (child,))
signal_handling._set_SIGCHLD_handler()

class Signal:
    from_param = staticmethod(lambda event: ctypes.c_int(signal.SIGCHLD if event == "sys.excepthook" else 0))

class Ignored:
    from_param = staticmethod(lambda arguments: ctypes.c_int(0))

send = ctypes.CDLL(None)["raise"]
send.argtypes = [Signal, Ignored]
torch.ones(4, device="cuda")
sys.addaudithook(send)
raise ConnectionResetError("by a peer")
"""


def test_a_worker_that_dies_as_an_error_is_printed(run_code):
    done = run_code(DEATH_AT_THE_HOOK, options=("--keep-going",), timeout=PATIENCE)
    assert done.exit_code == 4, done.errors[-2000:]
    assert "ConnectionResetError: by a peer" in done.errors
    assert "Error in sys.excepthook" not in done.errors and "tidemark/inside" not in done.errors


@pytest.mark.slow("stopped workers are silent")
def test_workers_of_a_run_that_is_stopped_say_nothing(run_code):
    done = run_code(LOADER.format(killed_at=-1, death="pass"), options=("--steps", "3"), timeout=PATIENCE)
    assert done.exit_code == 0, done.errors[-2000:]
    assert "Traceback" not in done.errors and "pymp" not in done.errors


TRAINING = """
import os, signal, sys, time, torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    model(torch.ones(4, 64, device="cuda")).sum().backward()
    optimizer.step()
"""


def ours(errors):
    """What Tidemark itself said."""
    return [line for line in errors.splitlines() if line.startswith("tidemark: ") and "preparing" not in line]


def test_a_rank_that_is_killed(run_code, tmp_path):
    """The launcher's child, of which it says what it says; we say it by its name."""
    torchrun = Path(PYTHON).with_name("torchrun")
    (tmp_path / "train.py").write_text(TRAINING + KILL)
    code = f"import subprocess, sys\nsys.exit(subprocess.call([{str(torchrun)!r}, '--nproc-per-node', '2', {str(tmp_path / 'train.py')!r}]))"
    done = run_code(code, options=("--keep-going", "--gpus", "2"), timeout=PATIENCE)
    assert done.exit_code == 4 and done.report is None, done.errors[-2000:]
    said = ours(done.errors)
    assert len(said) == 1 and re.fullmatch(r"tidemark: rank 0 \(pid \d+\) was killed by signal 9 \(SIGKILL\)", said[0]), done.errors[-2000:]


@pytest.mark.slow("a killed program behind a launcher")
def test_a_program_that_is_killed_behind_a_launcher(run_code, tmp_path):
    (tmp_path / "train.py").write_text(TRAINING + "os.abort()\n")
    code = f"import subprocess, sys, torch\nsubprocess.run([sys.executable, {str(tmp_path / 'train.py')!r}], check=True)"
    done = run_code(code, options=("--keep-going",), timeout=PATIENCE)
    assert done.exit_code == 4 and done.report is None, done.errors[-2000:]
    said = ours(done.errors)
    assert len(said) == 1 and re.fullmatch(r"tidemark: the process that used the card \(pid \d+\) was killed by signal 6 \(SIGABRT\)", said[0]), done.errors[-2000:]


GROWING = (
    TRAINING
    + """
kept = []
while True:
    kept.append(torch.full((1 << 23,), 1.5))   # 32 MiB, all of them written
"""
)


def test_the_hosts_memory_is_short(run_code):
    begun = time.monotonic()
    done = run_code(GROWING, options=("--keep-going", "--host-memory", "1.5GiB"), timeout=PATIENCE)
    assert done.exit_code == 4, done.errors[-2000:]
    said = ours(done.errors)
    assert len(said) == 1 and re.match(r"tidemark: the program was ended: it asked for (\S+) GiB of the host's memory, and --host-memory allows 1.50 GiB \(", said[0]), done.errors[-2000:]
    assert time.monotonic() - begun < PATIENCE


@pytest.mark.slow("untouched host memory does not count")
def test_memory_that_nobody_writes_is_no_shortage(run_code):
    program = TRAINING + "kept = [torch.empty(1 << 28).normal_() for _ in range(16)]\nkept += [one.bfloat16() for one in kept] + [torch.zeros(1 << 30)]\n"
    done = run_code(program, options=("--keep-going", "--host-memory", "1.5GiB"), timeout=PATIENCE)
    assert done.exit_code == 0, done.errors[-2000:]
    assert done.report["host"]["pageable_bytes"] > 24 << 30 and done.report["host"]["peak_rss_bytes"] < 1.5 * 2**30


@pytest.mark.slow("a size no host has")
def test_a_size_that_is_none(run_code):
    assert run_code("", options=("--host-memory", "much")).exit_code == 2


# A disk that is full: a limit on the size of files stands for it, as the kernel's answer is of the same kind (EFBIG for ENOSPC).
FULL = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"


def test_no_room_for_the_report(run_code):
    done = run_code(TRAINING + FULL, options=("--keep-going",), timeout=PATIENCE)
    assert done.exit_code == 2 and done.report is None, done.errors[-2000:]
    assert ours(done.errors) == ["tidemark: the report could not be written: File too large"]
    assert "Traceback" not in done.errors


@pytest.mark.slow("a full disk under the user's file")
def test_a_full_disk_for_the_users_file(run_code):
    done = run_code(TRAINING, options=("--keep-going", "--html", "/dev/full"), timeout=PATIENCE)
    assert done.exit_code == 2, done.errors[-2000:]
    assert ours(done.errors) == ["tidemark: /dev/full: cannot write: No space left on device"]


# Ctrl-C in a terminal, whose kernel sends it to every process of the group.  `{moment}` is printed when it has come.
CTRL_C = b"\x03"
SLOW = (
    """
import sys, time
def moment(name):
    if name == {wanted!r}:
        print("now", flush=True)
        time.sleep(60)   # it comes here, or somewhere in what follows
moment("before torch")
import atexit
atexit.register(lambda: moment("after the program"))
"""
    + TRAINING.replace("    optimizer.step()", "    optimizer.step()\n    if step == 1: moment('between steps')")
    + """
from torch.utils.data import DataLoader
for batch in DataLoader(torch.ones(64, 64), num_workers=2):
    moment("among workers")
    model(batch.cuda()).sum().backward()
moment("after training")
"""
)


def processes_of(group):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


@pytest.fixture
def interrupted(tmp_path, temporary):
    """interrupted(code, send) -> (exit code, errors): `send(process)` when the program says that it is time."""

    terminal, of_program = os.openpty()

    def take_terminal():
        fcntl.ioctl(of_program, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell has its background ignore

    def start(code, send):
        (tmp_path / "program.py").write_text(code)
        command = [TIDEMARK, "run", "--gpu", "a100-80gb", "--keep-going", "--", PYTHON, str(tmp_path / "program.py")]
        process = subprocess.Popen(
            command, env={**os.environ, "TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, pass_fds=(of_program,), preexec_fn=take_terminal
        )
        process.press = lambda key: os.write(terminal, key)
        try:
            assert process.stdout.readline() == "now\n"
            send(process)
            errors = process.communicate(timeout=PATIENCE)[1]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        assert processes_of(process.pid) == []
        assert list(temporary.iterdir()) == []
        return process.returncode, errors

    yield start
    os.close(terminal)
    os.close(of_program)


MOMENTS = ["before torch", "between steps", "among workers", "after training", "after the program"]


@pytest.mark.slow("Ctrl-C at each stage of a run", keep=["between steps"])
@pytest.mark.parametrize("wanted", MOMENTS)
def test_interrupted_at(interrupted, wanted):
    """What Python makes of it is the program's own: an exception that ended it, by signal or by exit code."""
    code, errors = interrupted(SLOW.format(wanted=wanted), lambda process: process.press(CTRL_C))
    assert code in ((128 + signal.SIGINT, 4) if wanted != "after the program" else (0, 128 + signal.SIGINT, 4)), errors[-2000:]
    assert "tidemark/inside" not in errors and "bug" not in errors, errors[-2000:]


@pytest.mark.slow("Ctrl-C twice")
def test_interrupted_twice(interrupted):
    def send(process):
        for _ in range(3):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.05)

    code, errors = interrupted(SLOW.format(wanted="between steps"), send)
    assert code in (128 + signal.SIGINT, 4), errors[-2000:]
    assert "bug" not in errors, errors[-2000:]


def test_told_to_end(interrupted):
    """By its own process id, as batch systems do."""
    code, errors = interrupted(SLOW.format(wanted="among workers"), lambda process: process.terminate())
    assert code == 128 + signal.SIGTERM, errors[-2000:]
