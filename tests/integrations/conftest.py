"""What integrations/ holds, run as a process beside the built command."""

import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
SMALL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1024}


@pytest.fixture
def spec(tmp_path):
    """spec(name, **keys) -> the name of a spec file in the test's folder"""

    def write(name="spec.json", **keys):
        (tmp_path / name).write_text(json.dumps({"model": SMALL, "batch": 2, "seq": 128, **keys}))
        return name

    return write


@pytest.fixture(scope="session")
def small():
    return SMALL
