"""The built `tidemark`, run as a process, and environments that look like Python with some torch in it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BINARY = os.environ.get("TIDEMARK", "build/release/apps/cli/tidemark")
DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "gpus.json"


@pytest.fixture
def folders(tmp_path):
    """Where a run may write: nothing of the user's own is touched, and what is left behind is seen."""
    for name in ("home", "tmp", "work", "site", "env"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def environment(folders):
    result = {key: value for key, value in os.environ.items() if not key.startswith(("TIDEMARK", "LD_", "PYTHON", "XDG_", "HF_", "TRANSFORMERS_"))}
    # An active environment with nothing in it: versions that nobody says are the default ones, whatever is installed here.
    result.update(VIRTUAL_ENV=str(folders / "env"), HOME=str(folders / "home"), TMPDIR=str(folders / "tmp"), PYTHONPATH=str(folders / "site"), PYTHONDONTWRITEBYTECODE="1")
    return result


@pytest.fixture
def tidemark(folders, environment):
    """tidemark(*arguments) -> CompletedProcess; checks that no run leaves files behind."""

    def run(*arguments, timeout=900, **changes):
        done = subprocess.run([BINARY, *map(str, arguments)], env={**environment, **changes}, cwd=folders / "work", capture_output=True, text=True, timeout=timeout)
        assert list((folders / "tmp").iterdir()) == [], "files were left behind"
        return done

    return run


@pytest.fixture
def start(folders, environment):
    """Starts tidemark without waiting for it."""

    def run(*arguments, **options):
        return subprocess.Popen([BINARY, *map(str, arguments)], env=environment, cwd=folders / "work", text=True, **options)

    return run


@pytest.fixture
def on_a_terminal(start):
    """on_a_terminal(*arguments) -> (exit code, what is shown on standard error, which is a terminal)"""

    def run(*arguments):
        ours, theirs = os.openpty()
        process = start(*arguments, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # a terminal that nobody has open any more
            pass
        os.close(ours)
        return process.wait(timeout=900), shown.decode()

    return run


@pytest.fixture
def python():
    return os.path.realpath(sys.executable)


@pytest.fixture
def fake_torch(folders):
    """A folder `torch` that says it is `version`; its libraries are those of the C compiler's runtime, renamed."""

    def make(version="2.11.0+cu130", cuda="13.0", hip=None, with_library=True):
        package = folders / "site" / "torch"
        (package / "lib").mkdir(parents=True)
        (package / "__init__.py").write_text("raise ImportError('this torch is a stage set')\n")
        (package / "version.py").write_text(f"from typing import Optional\n__version__ = {version!r}\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = {hip!r}\n")
        if with_library:
            for name in ("libtorch_cuda.so", "libc10.so"):
                shutil.copy(_any_shared_library(), package / "lib" / name)
        return package

    return make


@pytest.fixture
def compiled_extension(folders, monkeypatch, environment):
    """A compiler that writes empty files: the stage set has no headers to compile against."""
    script = folders / "home" / "c++"
    script.write_text('#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n')
    script.chmod(0o755)
    environment["CXX"] = str(script)


@pytest.fixture
def ready(fake_torch, compiled_extension):
    """Everything that a run needs, with nothing of torch in it."""
    fake_torch()


def _any_shared_library():
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if "libc.so" in path or "libm.so" in path:
                return path
    raise RuntimeError("no shared library is loaded")


# A program that writes the report that the in-process part would have written.
REPORTING = """
import json, os, sys
report = {"schema": "tidemark.report/1", "engine": "run",
          "peak": {"allocated_bytes": %(allocated)d, "reserved_bytes": %(reserved)d, "step": 2, "phase": "backward"},
          "oom": %(oom)s, "versions": {"torch": "2.11.0"}}
with open(os.path.join(os.environ["TIDEMARK_RUN_DIR"], "report-%%d.json" %% os.getpid()), "w") as file:
    json.dump(report, file)
print("from the script")
sys.exit(%(code)d)
"""

OOM = '{"requested_bytes": 2147483648, "message": "CUDA out of memory.", "step": 1, "phase": "backward", "where": "train.py:3"}'


@pytest.fixture
def script(folders):
    """script(text) -> path of a program in the working folder."""

    def write(text, name="train.py"):
        path = folders / "work" / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def reporting(script):
    def write(allocated=60 << 30, reserved=61 << 30, code=0, oom="None"):
        return script(REPORTING % {"allocated": allocated, "reserved": reserved, "code": code, "oom": oom})

    return write


@pytest.fixture
def oom_record():
    return OOM
