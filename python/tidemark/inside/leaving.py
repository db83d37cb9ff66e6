"""The ends of a program that Python's `atexit` does not see, or that must be quick."""

import glob
import multiprocessing.util
import os
import shutil
import sys
import weakref


def leave(code):
    """Ends the process now: nothing of the user's program runs any more, but what it would clean up at its exit is cleaned up."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass   # closed, or a pipe without a reader
    try:
        weakref.finalize._exitfunc()   # tempfile.TemporaryDirectory, the caches of `datasets`, …
    except Exception:
        pass
    _remove_socket_folders()
    _real_exit(code)


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
            pass   # the run is over
        return folder

    multiprocessing.util.get_temp_dir = get_temp_dir


_run_dir = None


def _remove_socket_folders():
    for note in glob.glob(os.path.join(glob.escape(_run_dir), "sockets-*")) if _run_dir else ():
        with open(note) as file:
            shutil.rmtree(file.read(), ignore_errors=True)
