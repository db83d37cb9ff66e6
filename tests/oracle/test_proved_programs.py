"""A few families whose programs are proved, live: docs/proved-models.md has them all."""

import subprocess
import sys

import pytest
from harness import PYTHON, ROOT, TIDEMARK


@pytest.mark.parametrize("mode, model_types", [("full", ["granite", "gpt_oss", "llava_next", "qwen2_vl", "idefics3", "mistral3", "t5", "qwen3_next", "deberta-v2", "resnet", "pegasus_x", "gemma4", "glm4v", "mllama", "qwen3_5", "qwen2_audio", "siglip2", "voxtral", "t5gemma", "blip"]), ("checkpointed", ["olmo3"]), ("lora", ["falcon", "siglip", "deepseek_v3"])])
def test_a_program_is_trained_as_the_model_is(mode, model_types, tmp_path):
    command = [PYTHON, str(ROOT / "tools" / "capture" / "prove.py"), "--tidemark", TIDEMARK, "--out", str(tmp_path), *model_types, "--modes", mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_differs_is_told(tmp_path):
    sys.path.insert(0, str(ROOT / "tools" / "capture"))
    from prove import allocations, compared

    real, ours = tmp_path / "real", tmp_path / "ours"
    real.write_text("+512 aten::add model\n+1024 aten::mul model\n-512 aten::mul model\n+512 aten::neg model\n")
    ours.write_text("+512 aten::add model\n+1024 aten::mul model\n+512 aten::neg model\n-512 - -\n")
    assert compared(allocations(real), allocations(real)) == {"equal": True, "of": 3}
    found = compared(allocations(real), allocations(ours))
    assert not found["equal"] and found["at"] == 2 and found["real"][1] == [-512]


def test_the_tables_rows_of_others_stay(tmp_path):
    sys.path.insert(0, str(ROOT / "tools" / "capture"))
    from prove import table

    page, found = tmp_path / "page.md", tmp_path / "found"
    page.write_text((ROOT / "docs" / "proved-models.md").read_text())
    found.mkdir()
    table(found, page)
    assert page.read_text() == (ROOT / "docs" / "proved-models.md").read_text()
    (found / "bart.full.json").write_text('{"failed": "training: it is late"}')
    table(found, page)
    assert "| bart | [1] | equal" in page.read_text() and "1. bart, full: training: it is late" in page.read_text()
