"""The ends of a program that Python's `atexit` does not see, or that must be quick."""

import contextlib
import ctypes
import functools
import glob
import multiprocessing.connection
import multiprocessing.process
import multiprocessing.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import weakref

from . import relied_on, world


def leave(code):
    """Ends the process now: nothing of the user's program runs any more, but what it would clean up at its exit is cleaned up."""
    with undisturbed():
        _clean_up()
        _real_exit(code)


def clean_up_where_a_rank_leaves():
    """One that needs another's word first ends in the middle of a call of NCCL (virtual_gpu/nccl_messages.cpp)."""
    ctypes.CDLL(None).tidemark_before_a_rank_leaves(_clean_up_undisturbed)


@ctypes.CFUNCTYPE(None)
def _clean_up_undisturbed():
    with undisturbed():
        _clean_up()


@contextlib.contextmanager
def undisturbed():
    """What is done at the end is done whole: no handler of the program's runs meanwhile, such as the one with which a DataLoader raises when a worker
    has died (torch/utils/data/_utils/signal_handling.py), and no Ctrl-C stops it."""
    before = {}
    if threading.current_thread() is threading.main_thread():  # where Python runs them, and lets them be changed
        before = {number: signal.signal(number, kept) for number, kept in ((signal.SIGINT, signal.SIG_IGN), (signal.SIGCHLD, signal.SIG_DFL))}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # one that Python did not set
                signal.signal(number, handler)


def _clean_up():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass  # closed, or a pipe without a reader
    try:
        weakref.finalize._exitfunc()  # tempfile.TemporaryDirectory, the caches of `datasets`, …
    except Exception:
        pass
    for worker in multiprocessing.active_children():  # a data loader's: one that ends later would look for its socket, which is gone, and complain
        if worker._parent_pid == os.getpid():  # after a plain fork they are a sister's
            worker.kill()
            worker.join()
    _end_compile_workers()
    _remove_socket_folders()


def _end_compile_workers():
    """Inductor's, which remove their temporary folders when they are asked to end, as it asks them with `atexit` (torch/_inductor/async_compile.py,
    the last line of 2.7 to 2.15; 2.6 never does).  Until 2.8 to import the module is to start them (there, `warm_pool`)."""
    module = sys.modules.get("torch._inductor.async_compile")
    if module and not relied_on.enable("compile_workers", lambda: module.shutdown_compile_workers()):
        print(f"tidemark: {relied_on.FEATURES['compile_workers'].without}", file=sys.stderr)  # the report is written by now


def watch_children(run_dir):
    """Keeps the processes that the program starts with `multiprocessing`, whose own list forgets those that have ended, and notes for the launcher which of
    those that it starts with `subprocess` a signal has ended: ranks (torch/distributed/elastic/multiprocessing/subprocess_handler), `accelerate launch`'s program."""
    for name in ("poll", "wait"):
        _note_signals(name, run_dir)
    real = multiprocessing.process.BaseProcess.start

    @functools.wraps(real)
    def start(self):
        real(self)
        _children.add(self)

    multiprocessing.process.BaseProcess.start = start


_children = weakref.WeakSet()


def _note_signals(name, run_dir):
    real = getattr(subprocess.Popen, name)

    @functools.wraps(real)
    def asked(self, *args, **kwargs):
        code = real(self, *args, **kwargs)
        if code is not None and -code in _KILLERS:
            _note_killed(run_dir, self.pid, -code)
        return code

    setattr(subprocess.Popen, name, asked)


# Not those by which a launcher ends the other ranks.
_KILLERS = {signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS}


def _note_killed(run_dir, pid, number):
    """The first one is what the launcher says."""
    used_the_card = os.path.exists(os.path.join(run_dir, f"card-used-{pid}"))
    who = (f"rank {world.rank}" if "TIDEMARK_RANKS" in os.environ else "the process that used the card") if used_the_card else "a process that the program started"
    with contextlib.suppress(OSError):
        file = os.open(os.path.join(run_dir, "killed-by-a-signal"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(file, "w") as note:
            note.write(f"{who} (pid {pid}) was killed by signal {int(number)} ({signal.Signals(number).name})")


def say_who_was_killed(wait_seconds):
    """A line on stderr for each child that a signal has ended.  `wait_seconds`: how long one may take that is ending now; its connections close
    before its exit can be seen."""
    children = [child for child in _children if child._parent_pid == os.getpid()]
    if children:
        multiprocessing.connection.wait([child.sentinel for child in children], timeout=wait_seconds)
    for child in children:
        if (child.exitcode or 0) < 0:
            print(f"tidemark: {child.name} (pid {child.pid}) was killed by signal {signal.Signals(-child.exitcode).name}", file=sys.stderr)


def watch_exit(before):
    """Calls `before()` when the program ends by `os._exit`."""

    def _exit(status):
        before()
        _real_exit(status)

    os._exit = _exit


_real_exit = os._exit


def note_socket_folders(run_dir):
    """Data loader workers, which end when we do, make folders for their sockets (pymp-…): `leave` must know where."""
    global _run_dir
    _run_dir = run_dir
    real = multiprocessing.util.get_temp_dir

    def get_temp_dir():
        folder = real()
        try:
            with open(os.path.join(run_dir, f"sockets-{os.getpid()}"), "w") as file:
                file.write(folder)
        except OSError:
            pass  # the run is over
        return folder

    multiprocessing.util.get_temp_dir = get_temp_dir


_run_dir = None


def _remove_socket_folders():
    for note in glob.glob(os.path.join(glob.escape(_run_dir), "sockets-*")) if _run_dir else ():
        with open(note) as file:
            shutil.rmtree(file.read(), ignore_errors=True)
