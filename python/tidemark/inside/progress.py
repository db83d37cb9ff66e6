"""The live line that the launcher shows on a terminal (apps/cli/child.cpp): one line in a file."""

import contextlib
import os

_last_step = ""  # what is shown again when something else is over


def step_ended(run_dir, step, now_bytes, peak_bytes):
    global _last_step
    _last_step = f"step {step}  now {_gib(now_bytes)}  peak {_gib(peak_bytes)}"
    _show(run_dir, _last_step)


def callbacks_were_imported():
    """torch.compile may take minutes in which no step ends; torch._dynamo.callback tells when it begins and ends (its callbacks take arguments since 2.7)."""
    from torch._dynamo.callback import callback_handler

    run_dir = os.environ["TIDEMARK_RUN_DIR"]
    callback_handler.register_start_callback(lambda *_: _show(run_dir, "torch.compile is at work"))
    callback_handler.register_end_callback(lambda *_: _show(run_dir, _last_step))


def _gib(size):
    return f"{size / 2**30:.2f} GiB"


def _show(run_dir, line):
    path = os.path.join(run_dir, "progress")
    with contextlib.suppress(OSError):  # a full disk does not end the program
        with open(path + ".new", "w") as file:
            file.write(line + "\n")
        os.replace(path + ".new", path)
