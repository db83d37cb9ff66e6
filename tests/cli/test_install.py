"""`cmake --install` gives a folder that works wherever it is moved to; `cpack` and find_package(tidemark) give the same."""

import os
import pathlib
import subprocess

import pytest

BUILD = os.environ.get("TIDEMARK_BUILD_DIR")


pytestmark = pytest.mark.skipif(not BUILD, reason="TIDEMARK_BUILD_DIR is not set")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_an_installed_and_moved_tidemark_runs(folders, environment, ready, reporting, python):
    first, moved = folders / "home" / "first", folders / "home" / "moved"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True)
    first.rename(moved)
    for path in (
        "bin/tidemark",
        "lib/tidemark/libtidemark_gpu.so",
        "lib/tidemark/libtidemark_core.so",
        "share/tidemark/data/gpus.json",
        "share/tidemark/python/tidemark/startup/sitecustomize.py",
        "share/tidemark/torch_extension",
        "share/tidemark/replay",
    ):
        assert (moved / path).exists(), path
    assert not list(moved.rglob("__pycache__"))
    done = subprocess.run([moved / "bin" / "tidemark", "run", "--gpu", "h100-80gb", "--", python, reporting()], env=environment, cwd=folders / "work", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    linked = next((pathlib.Path(environment["HOME"]) / ".cache" / "tidemark").glob("*/libtidemark_gpu.so"))
    assert linked.resolve() == (moved / "lib/tidemark/libtidemark_gpu.so").resolve()


def test_a_project_builds_against_the_installed_library(folders):
    prefix, build = folders / "home" / "prefix", folders / "work" / "build"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    assert sorted(path.name for path in (prefix / "include").rglob("*.h")) == ["error.h", "predict.h"]
    configured = ["cmake", "-B", build, "-S", ROOT / "examples" / "cmake_project", f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (configured, ["cmake", "--build", build]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    printed = subprocess.run([build / "batch_that_fits"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed[0].startswith("batch 1: ") and ", fits: peak " in printed[0]
    assert ", does not fit: " in printed[-1]


def test_debian_packages(folders):
    made = subprocess.run(["cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folders / "work"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    held = {path.name.split("_")[0]: subprocess.run(["dpkg-deb", "--contents", path], check=True, capture_output=True, text=True).stdout for path in (folders / "work").glob("*.deb")}
    assert set(held) == {"tidemark", "libtidemark-dev"}
    for path in ("/usr/bin/tidemark", "/usr/lib/tidemark/libtidemark_gpu.so", "/usr/share/tidemark/data/gpus.json"):
        assert f".{path}\n" in held["tidemark"]
    for path in ("/usr/include/tidemark/predict.h", "/usr/lib/cmake/tidemark/tidemarkConfig.cmake"):
        assert f".{path}\n" in held["libtidemark-dev"]
