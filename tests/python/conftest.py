"""The package as it lies in the tree, beside a command that is built."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))


@pytest.fixture(scope="session")
def hub_configs():
    """Configurations as they are found on the hub, by name."""
    lines = gzip.decompress((ROOT / "tests/golden/hub_configs/hub.txt.gz").read_bytes()).decode().splitlines()
    return {row["name"]: row["config"] for row in map(json.loads, lines)}


@pytest.fixture
def built(monkeypatch):
    """The package finds the build."""
    monkeypatch.setenv("TIDEMARK_BIN", TIDEMARK)
    monkeypatch.delenv("TIDEMARK_CORE", raising=False)


@pytest.fixture(params=["library", "command"])
def both_ways(request, built, monkeypatch):
    """Once in this process, once by the command."""
    if request.param == "command":
        monkeypatch.setenv("TIDEMARK_CORE", "command")
    return request.param


@pytest.fixture
def command(tmp_path):
    """command(*words) -> CompletedProcess, where this interpreter's environment is the active one."""
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    return lambda *words: subprocess.run([TIDEMARK, *map(str, words)], cwd=tmp_path, env=environment, capture_output=True, text=True)
