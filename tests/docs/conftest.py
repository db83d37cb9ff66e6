"""The documents, with what their commands name."""

import json
import os
import subprocess

import pytest
from documents import LLAMA_1B, LLAMA_8B, MIXTRAL, ROOT, SPEC, TIDEMARK


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The files that the pages name."""
    place = tmp_path_factory.mktemp("documents")
    llava = json.loads((ROOT / "bench/llava.json").read_text())["model"]
    for name, config in {"llama-3.1-8b": LLAMA_8B, "llama-3-8b": LLAMA_8B, "llama-1b": LLAMA_1B, "mixtral-8x7b": MIXTRAL, "llava-1.5-7b": llava}.items():
        (place / name).mkdir()
        (place / name / "config.json").write_text(json.dumps(config))
    (place / "config.json").write_text(json.dumps(LLAMA_8B))
    (place / "prices.json").write_text('{"l40s": 0.9, "a100-80gb": 1.6, "h100-80gb": 2.6}\n')
    # A name on the hub, in the local cache.
    snapshot = place / "hub/models--meta-llama--Llama-3.1-8B/snapshots/0"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps(LLAMA_8B))
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text("0")
    return place


@pytest.fixture(scope="session")
def shell(folder):
    """shell(command) -> CompletedProcess, where no environment is active, so that versions are the newest that are known."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "tidemark").symlink_to(os.path.abspath(TIDEMARK))
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder), "VIRTUAL_ENV": str(folder), "HF_HUB_CACHE": str(folder / "hub"), "HF_HUB_OFFLINE": "1"}

    def run(command):
        (folder / "train.yaml").write_text(SPEC)  # which a command may write over
        return subprocess.run(["/bin/bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

    return run
