"""`cmake --install` gives a folder that works wherever it is moved to."""

import os
import pathlib
import subprocess

import pytest

BUILD = os.environ.get("TIDEMARK_BUILD_DIR")


@pytest.mark.skipif(not BUILD, reason="TIDEMARK_BUILD_DIR is not set")
def test_an_installed_and_moved_tidemark_runs(folders, environment, ready, reporting, python):
    first, moved = folders / "home" / "first", folders / "home" / "moved"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True)
    first.rename(moved)
    for path in ("bin/tidemark", "lib/tidemark/libtidemark_gpu.so", "share/tidemark/data/gpus.json", "share/tidemark/python/tidemark/startup/sitecustomize.py", "share/tidemark/torch_extension", "share/tidemark/replay"):
        assert (moved / path).exists(), path
    assert not list(moved.rglob("__pycache__"))
    done = subprocess.run([moved / "bin" / "tidemark", "run", "--gpu", "h100-80gb", "--", python, reporting()], env=environment, cwd=folders / "work", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    linked = next((pathlib.Path(environment["HOME"]) / ".cache" / "tidemark").glob("*/libtidemark_gpu.so"))
    assert linked.resolve() == (moved / "lib/tidemark/libtidemark_gpu.so").resolve()
