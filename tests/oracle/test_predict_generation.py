"""`tidemark predict --generate` against generate() on the virtual GPU, live, allocation by allocation."""

import sys

import pytest
from harness import PYTHON, ROOT, TIDEMARK, versions_of

sys.path[:0] = [str(ROOT / "tools/trace"), str(ROOT / "tools/capture")]
import argparse

import generation_table


@pytest.mark.parametrize("family, setting", [("qwen2", "short"), ("mistral", "past the window"), pytest.param("gpt_oss", "short", marks=pytest.mark.slow("experts and sinks decode as they are predicted"))])
def test_generation_equals_prediction(family, setting, tmp_path):
    options = argparse.Namespace(tidemark=TIDEMARK, python=PYTHON, out=tmp_path, versions=versions_of("torch", "transformers"))
    cell = generation_table.compare((family, setting), options)
    assert cell.startswith("equal, ") and int(cell.removeprefix("equal, ")) > 300
