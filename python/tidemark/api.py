"""`tidemark run` as a function call, for scripts and notebooks.

The program runs in a process of its own, under the `tidemark` launcher: nothing of it touches the calling process, which may have
torch imported or not.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from . import notebooks, places
from .reports import Report


class ProgramFailed(RuntimeError):
    """The program itself ended with an error.  `exit_code` and `output` are its own; `report` tells of its memory up to then, or is None."""

    def __init__(self, message, exit_code, output, report=None):
        super().__init__(message)
        self.exit_code, self.output, self.report = exit_code, output, report


def run(
    command=None,
    *,
    script=None,
    source=None,
    notebook=None,
    arguments=(),
    gpu=None,
    memory=None,
    steps=None,
    keep_going=False,
    fake_weights=False,
    moe_routing=None,
    generate_length=None,
    data=None,
    allocator=None,
    snapshot=None,
    gpus=None,
    gpus_per_node=None,
    link=None,
    rank=None,
    all_ranks=False,
    margin=None,
    python=None,
    cwd=None,
    env=None,
    timeout=None,
):
    """Runs a training program on a virtual GPU and returns its Report.

    The program is one of: `command` (["torchrun", "train.py"]), `script` (a file), `source` (Python code), `notebook` (an .ipynb file,
    whose code cells are run in order; lines of shell and magic commands are skipped).  `arguments` follow it; `python` is the interpreter
    that has torch (this one).  The other options are those of `tidemark run`.

    A run that does not fit is a result: look at `report.fits`.  Raises ValueError for options that make no sense, NotImplementedError
    for what Tidemark cannot do, ProgramFailed if the program fails, RuntimeError for a bug in Tidemark.
    """
    given = [name for name, value in (("command", command), ("script", script), ("source", source), ("notebook", notebook)) if value is not None]
    if len(given) != 1:
        raise ValueError(f"give one of command, script, source and notebook; got {' and '.join(given) or 'none'}")
    if isinstance(command, str):
        raise ValueError("command is a list of words, such as ['python', 'train.py']")
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        if notebook is not None:
            source = notebooks.code_of(notebook)
        if source is not None:
            script = Path(folder, "program.py")
            script.write_text(source)
            env = _with_folder_importable(env, cwd)
        if script is not None:
            command = [python or sys.executable, os.fspath(script)]
        options = _options(
            gpu=gpu, memory=memory, steps=steps, moe_routing=moe_routing, generate_length=generate_length, data=data, allocator=allocator, snapshot=snapshot, gpus=gpus, gpus_per_node=gpus_per_node, link=link, rank=rank, margin=margin
        )
        options += [flag for flag, wanted in (("--keep-going", keep_going), ("--fake-weights", fake_weights), ("--all-ranks", all_ranks)) if wanted]
        files = {"json": Path(folder, "report.json"), "html": Path(folder, "report.html")}
        options += [word for name, path in files.items() for word in (f"--{name}", str(path))]
        words = [places.launcher(), "run", *options, "--", *map(os.fspath, command), *map(str, arguments)]
        exit_code, output = _finished(words, cwd, env, timeout)
        report = None
        if files["json"].exists() and files["json"].stat().st_size:
            report = Report(json.loads(files["json"].read_text()), output, files["html"].read_text() if files["html"].exists() else None)
        return _judged(report, exit_code, output)


def _judged(report, exit_code, output):
    if report is not None and (report.oom is not None or report.script.exit_code == 0):
        return report
    message = _message_of_ours(output)
    if report is None and exit_code in _ERRORS and message:
        raise _ERRORS[exit_code](message)
    if report is not None:
        exit_code = report.script.exit_code
    elif said := re.match(r"the program ended with exit code (\d+)", message or ""):
        exit_code = int(said[1])
    last_lines = "\n".join(output.rstrip().splitlines()[-20:])
    raise ProgramFailed(f"the program ended with exit code {exit_code}\n{last_lines}", exit_code, output, report)


_ERRORS = {2: ValueError, 3: NotImplementedError, 70: RuntimeError}  # exit codes of the launcher itself


def _message_of_ours(output):
    """The launcher's last words ("tidemark: …" and an indented hint), or None if the program spoke last."""
    lines = output.rstrip().splitlines()
    for at in range(len(lines) - 1, max(-1, len(lines) - 4), -1):
        if lines[at].startswith("tidemark: "):
            return "\n".join([lines[at].removeprefix("tidemark: "), *lines[at + 1 :]])
        if not lines[at].startswith("  "):
            return None
    return None


def _finished(words, cwd, env, timeout):
    """Exit code, and what went to stdout and stderr, in order.  On a timeout or an interrupt the launcher takes the program down with it."""
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT) as process:
            try:
                process.wait(timeout)
            except BaseException:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
                raise
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace")


def _options(**values):
    return [word for name, value in values.items() if value is not None for word in (f"--{name.replace('_', '-')}", os.fspath(value) if isinstance(value, os.PathLike) else str(value))]


def _with_folder_importable(env, cwd):
    """Code that came as text imports what lies in the working directory, as it would in a notebook."""
    env = dict(os.environ if env is None else env)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (os.path.abspath(cwd or os.getcwd()), env.get("PYTHONPATH"))))
    return env
