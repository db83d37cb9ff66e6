"""The wheel, installed in a bare environment: nothing of the clone, and no compiler."""

import os
import pathlib
import shutil
import subprocess
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCHES = [os.environ[name] for name in ("TIDEMARK_PYTHON", "TIDEMARK_PYTHON_211") if os.environ.get(name)]
LLAVA = ROOT / "examples" / "llava_pretrain.py"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """dist/*.whl as tools/build_wheel.sh makes it, with the extensions for the torches at hand."""
    for python in TORCHES:
        subprocess.run([ROOT / "build/release/apps/cli/tidemark", "prepare", "--python", python, "--ship", ROOT / "build/release/extensions"], check=True)
    done = subprocess.run([ROOT / "tools/build_wheel.sh", "--as-is"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (ROOT / "dist").glob("tidemark_gpu-*.whl")
    return made, done.stdout


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The environment's bin/, in which pip has put the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel[0]], check=True)
    return folder / "bin"


@pytest.fixture
def no_compiler(tmp_path):
    """An environment whose PATH has a shell's tools and nothing that compiles."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "env", "uname", "cat", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TIDEMARK", "PYTHON", "XDG_", "CXX"))}
    return {**kept, "PATH": str(tools), "HOME": str(home)}


def test_the_wheel_is_small_and_runs_on_old_systems(wheel):
    made, said = wheel
    assert made.stat().st_size < 30 << 20
    assert made.name.startswith("tidemark_gpu-") and "-py3-none-manylinux" in made.name
    oldest = min(tuple(map(int, tag.split("_")[1:3])) for tag in made.name.split("-")[-1].split(".") if tag.startswith("manylinux_"))
    assert oldest <= (2, 35)
    assert "consistent with" in said and f'"manylinux_{oldest[0]}_{oldest[1]}_x86_64"' in said.replace("\n", " ")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
    assert not any("__pycache__" in name or name.endswith(".a") for name in names)


def test_predict_needs_nothing_else(installed, no_compiler):
    done = subprocess.run([installed / "tidemark", "predict", "--spec", ROOT / "examples/llava_pretrain.yaml"], env=no_compiler, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("fits: peak")


PREDICT = """
import json, sys, tidemark
from tidemark import core
spec = json.load(open(sys.argv[1]))
report = tidemark.predict(spec.pop("model"), **spec)
print(core.is_in_process(), report)
open(sys.argv[2], "w").write(report.to_json())
"""


@pytest.mark.parametrize("way", ["", "command"])
def test_the_python_package_predicts(installed, no_compiler, tmp_path, way):
    spec = ROOT / "bench/llava.json"
    done = subprocess.run([installed / "python", "-c", PREDICT, spec, tmp_path / "here.json"], env={**no_compiler, "TIDEMARK_CORE": way}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{way == ''} fits: peak")
    subprocess.run([installed / "tidemark", "predict", "--quiet", "--spec", spec, "--json", tmp_path / "command.json"], env={**no_compiler, "VIRTUAL_ENV": str(installed.parent)}, check=True)
    assert (tmp_path / "here.json").read_text() == (tmp_path / "command.json").read_text()


def test_pytest_finds_the_plugin(installed):
    (entry,) = installed.parent.glob("lib/python3*/site-packages/tidemark_gpu-*.dist-info/entry_points.txt")
    assert "tidemark = tidemark.pytest_plugin" in entry.read_text()
    assert list(installed.parent.glob("lib/python3*/site-packages/tidemark/py.typed"))


def test_the_python_package_finds_the_command(installed, no_compiler):
    code = "import tidemark; print(tidemark.run(source='print(1)', gpu='h100-80gb'))"
    done = subprocess.run([installed / "python", "-c", code], env=no_compiler, capture_output=True, text=True)
    assert "NotImplementedError: no torch in" in done.stderr


@pytest.mark.parametrize("python", TORCHES)
def test_known_torches_are_prepared_for_without_a_compiler(installed, no_compiler, python):
    done = subprocess.run([installed / "tidemark", "prepare", "--python", python], env=no_compiler, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ready for torch ")


@pytest.mark.parametrize("python", TORCHES)
def test_llava_runs_without_a_compiler(installed, no_compiler, python, tmp_path):
    command = [installed / "tidemark", "run", "--gpu", "h100-80gb", "--json", tmp_path / "report.json", "--", python, LLAVA, "--batch", "16", "--sequence", "1024", "--checkpointing"]
    done = subprocess.run(command, env=no_compiler, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fits: peak" in done.stdout and "preparing" not in done.stderr
