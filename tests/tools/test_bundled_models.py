"""tools/bundled_models.py: what is written of a configuration, and where its names go."""

import json
import subprocess
import sys

import bundled_models
import pytest

CONFIG = {"model_type": "llama", "hidden_size": 64, "transformers_version": "4.1", "text_config": {"bos_token_id": 1, "vocab_size": 8}}


@pytest.fixture
def add(tmp_path):
    return lambda config, *names: bundled_models.add(config, list(names), "a source", "2026-11-29", tmp_path)


def rows(folder):
    return json.loads((folder / "index.json").read_text())["configurations"]


def test_keys_without_memory_are_left_out(add, tmp_path):
    assert add(CONFIG, "Org/Model-A", "Org/Model-A-Instruct") == "model-a.json"
    assert json.loads((tmp_path / "model-a.json").read_text()) == {"model_type": "llama", "hidden_size": 64, "text_config": {"vocab_size": 8}}
    assert rows(tmp_path) == {"model-a.json": {"names": ["Org/Model-A", "Org/Model-A-Instruct"], "source": "a source", "date": "2026-11-29"}}


def test_a_name_moves_to_its_new_configuration(add, tmp_path):
    add(CONFIG, "Org/A", "Org/B")
    add({**CONFIG, "hidden_size": 32}, "Org/B")
    assert {file: row["names"] for file, row in rows(tmp_path).items()} == {"a.json": ["Org/A"], "b.json": ["Org/B"]}
    add(CONFIG, "Org/B", "Org/A")
    assert list(rows(tmp_path)) == ["b.json"] and not (tmp_path / "a.json").exists()


def test_two_owners_of_one_name_have_two_files(add):
    assert add(CONFIG, "Org/A") == "a.json"
    assert add(CONFIG, "Other/A") == "other--a.json"


@pytest.mark.parametrize("words, message", [(["a"], "a is no ORG/NAME"), (["Org/A"], "no model_type")])
def test_bad_input_is_one_line(tmp_path, words, message):
    (tmp_path / "c.json").write_text("{}")
    done = subprocess.run([sys.executable, bundled_models.__file__, tmp_path / "c.json", *words, "--source", "x"], capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
