"""Programs that Tidemark comes with, at other sizes than they were captured at: equal to programs captured at exactly those."""

import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.oracle
ROOT = pathlib.Path(__file__).resolve().parents[2]


# transformers 5.17.0 and 5.23.0: each environment has the programs of its own.
@pytest.mark.parametrize("python, model_types", [("TIDEMARK_PYTHON", ("arcee", "cohere2", "mbart")), ("TIDEMARK_PYTHON_215", ("beit", "deberta-v2", "falcon", "gpt_oss", "hy_v3", "llava", "mamba2", "modernbert", "paligemma", "qwen2_audio", "resnet", "ultrabert", "whisper", "xmod"))])
def test_shipped_programs_equal_exact_ones(python, model_types):
    if python not in os.environ:
        pytest.skip(f"{python} is not set")
    done = subprocess.run([os.environ[python], ROOT / "tools/capture/compare.py", *model_types], capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert len(rows) == len(model_types), done.stderr[-2000:]
    assert all("| equal, " in row for row in rows) and done.returncode == 0, rows
