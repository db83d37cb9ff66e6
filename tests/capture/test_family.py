"""A family's program is what the command writes, and holds for a configuration that it was not captured at."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", str(ROOT / ".venv/bin/python"))
pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    command = [TIDEMARK, "run", "--gpu", "h100-80gb", "--memory", "1000TB", "--quiet", "--keep-going", "--", PYTHON, ROOT / "tools/capture/ship.py", folder, "granite"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"})
    found = list(folder.glob("*/granite"))
    assert len(found) == 1, done.stdout + done.stderr
    return found[0]


@pytest.mark.slow("a family captured anew is the shipped program")
def test_what_is_shipped_is_what_the_command_writes(written):
    shipped = ROOT / "data" / "programs" / written.parent.name / "granite"
    if not shipped.exists():
        pytest.skip(f"transformers {written.parent.name} has no granite program: that of an older release answers")
    assert written.read_text() == re.sub(r"^equal_on .*\n", "", shipped.read_text(), flags=re.MULTILINE)  # compare.py writes those


@pytest.mark.slow("a family program at sizes of no capture")
def test_it_is_the_program_of_a_configuration_that_it_was_not_captured_at(written, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "granite", "hidden_size": 240, "intermediate_size": 333, "num_hidden_layers": 9, "num_attention_heads": 10, "num_key_value_heads": 5, "vocab_size": 777}')
    captured, asked = tmp_path / "own.program", ["--batch", "3", "--seq", "70"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TIDEMARK_BIN": TIDEMARK, "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([PYTHON, "-m", "tidemark.capture", str(tmp_path / "config.json"), *asked, "-o", str(captured)], check=True, env=environment, timeout=300)
    events = []
    for model in ([str(tmp_path / "config.json"), "--program", str(written)], ["--program", str(captured)]):
        subprocess.run([TIDEMARK, "predict", *model, *asked, "--gpu", "h200", "--torch", "2.11.0", "--quiet", "--events", str(tmp_path / "events")], check=True)
        events.append((tmp_path / "events").read_text())
    assert events[0] == events[1] and events[0].count("\n") > 1000
