"""What runs at the end of a program, without a program."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

from tidemark.inside import leaving


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGCHLD])
def test_the_end_is_not_disturbed(number):
    def raises(*_):
        raise RuntimeError("DataLoader worker is killed by signal: Killed")

    before = signal.signal(number, raises)
    try:
        with pytest.raises(RuntimeError):
            os.kill(os.getpid(), number)
        with leaving.undisturbed():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is raises
    finally:
        signal.signal(number, before)


def test_workers_end_before_their_folders_go(tmp_path):
    """Each worker would complain of a folder that is gone; they are ended first."""
    program = f"""
import multiprocessing, os, sys, time
context = multiprocessing.get_context("fork")   # as a data loader has it
sys.path.insert(0, {str(ROOT / "python")!r})
from tidemark.inside import leaving
leaving.note_socket_folders({str(tmp_path)!r})

def work(ready):
    folder = multiprocessing.util.get_temp_dir()
    ready.put(folder)
    time.sleep(60)

if __name__ == "__main__":
    ready = context.Queue()
    workers = [context.Process(target=work, args=(ready,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    print(*(ready.get() for _ in workers), flush=True)
    leaving.leave(0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert not any(os.path.exists(folder) for folder in done.stdout.split())


def left_with(shutdown):
    """A program that ends early, with a module in the place of Inductor's workers."""
    program = f"""
import sys, types
sys.path.insert(0, {str(ROOT / "python")!r})
from tidemark.inside import leaving
module = sys.modules["torch._inductor.async_compile"] = types.ModuleType("async_compile")
{shutdown}
leaving.leave(3)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    return done.stdout, done.stderr


def test_compile_workers_are_asked_to_end():
    assert left_with("module.shutdown_compile_workers = lambda: print('asked', flush=True)") == ("asked\n", "")


@pytest.mark.parametrize("shutdown", ["", "module.shutdown_compile_workers = lambda: 1 / 0"])
def test_compile_workers_that_cannot_be_asked_are_said(shutdown):
    assert left_with(shutdown) == ("", "tidemark: temporary folders of Inductor's compile workers may stay behind\n")


def test_compile_workers_are_not_loaded_for_that():
    assert left_with("del sys.modules['torch._inductor.async_compile']; import atexit; leaving._real_exit = lambda code: sys.exit(3 if 'torch._inductor.async_compile' not in sys.modules else 4)") == ("", "")
