"""`tidemark run` as a process, for the tests of this folder."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from running import PYTHON, ROOT, TIDEMARK, Run


def left_by_torch(path):
    """With or without us: by torchrun; by Inductor's workers in torch 2.6, which nobody asks to end, and there by `os._exit` after the first optimizer
    (torch/distributed/nn/jit/instantiator.py, which newer ones import only when it is used); by a DataLoader that looks whether it can still open files
    (torch/utils/data/dataloader.py, `_try_get_data`) when the handler by which it learns of a worker's death raises between a file's making and its keeper's."""
    looked_for_descriptors = path.is_file() and not path.stat().st_size and re.fullmatch(r"tmp[a-z0-9_]{8}", path.name)
    return looked_for_descriptors or path.name.startswith("torchelastic_") or [inner.name for inner in path.glob("*")] == ["_remote_module_non_scriptable.py"]


@pytest.fixture
def temporary():
    """A folder with a short name: workers of a DataLoader listen on sockets in it, whose paths end at 107 characters (unix(7))."""
    with tempfile.TemporaryDirectory(prefix="tm-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def run(request, tmp_path, temporary):
    """run(command, options=[…], **environment) -> Run.  Checks that nothing is left behind in the temporary folder."""

    def start(command, options=("--steps", "3"), gpu="a100-80gb", events=False, timeout=900, **changes):
        environment = {**os.environ, "PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}", "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **changes}
        if events:
            environment["TIDEMARK_EVENTS"] = str(tmp_path / "events.txt")
        words = [TIDEMARK, "run", "--gpu", gpu, "--json", str(tmp_path / "report.json"), *options, "--", *map(str, command)]
        (tmp_path / "report.json").unlink(missing_ok=True)
        done = subprocess.run(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        left = [path for path in temporary.iterdir() if not left_by_torch(path)]
        assert not left, f"files were left behind: {left}"
        finished = Run(done, tmp_path)
        if finished.report:
            request.node.user_properties.append(("peak", finished.peak))  # for tests/outcomes.py
        return finished

    return start


@pytest.fixture
def run_code(run, tmp_path):
    """The same for a program that is written in the test."""

    def start(code, *arguments, python=PYTHON, **options):
        program = tmp_path / "program.py"
        program.write_text(code)
        return run([python, program, *arguments], **options)

    return start
