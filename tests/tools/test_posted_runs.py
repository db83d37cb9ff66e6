"""tools/posted_runs.py: options of posted files, what is replaced in them, and rows of its page."""

import importlib.util
import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("posted_runs", ROOT / "tools" / "posted_runs.py")
runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runs)


def test_options_of_a_command(tmp_path):
    (tmp_path / "run.sh").write_text("accelerate launch --config_file z.yaml trl/scripts/dpo.py \\\n --lora_r=16 --use_peft --loss_type 'a b'\n")
    assert runs.options_of(tmp_path / "run.sh") == {"lora_r": "16", "use_peft": "true", "loss_type": "a b"}
    assert runs.words_of(tmp_path / "run.sh")[0] == ["accelerate", "launch", "--config_file", "z.yaml"]
    assert runs.method_of(tmp_path / "run.sh") == "dpo"


def test_renamed_and_dropped_keys_of_a_file(tmp_path):
    (tmp_path / "c.yaml").write_text("torch_dtype: bfloat16\nmax_seq_length: 64\nbeta: 0.1\ndataset_mixer: {a: 1}\npush_to_hub: true\n")
    assert runs.asked(tmp_path / "c.yaml") == {"dtype": "bfloat16", "max_length": 64, "beta": 0.1}
    assert runs.method_of(tmp_path / "c.yaml") == "dpo"


@pytest.mark.parametrize("kind, keys", [("text", {"text"}), ("preference", {"prompt", "chosen", "rejected"}), ("label", {"prompt", "completion", "label"})])
def test_each_method_has_its_samples(tmp_path, kind, keys):
    runs.make_data(kind, tmp_path)
    row = json.loads((tmp_path / "train.jsonl").read_text().splitlines()[0])
    assert set(row) == keys and row.get("prompt", "") == ""


def test_every_file_of_the_page_is_run():
    assert {entry["file"].split("/")[0] for entry in runs.entries()} == {"trl", "trainer"}
    assert all(runs.method_of(runs.posted_files.POSTED / entry["file"]) in runs.TRAINED_BY_TRL for entry in runs.entries() if entry["file"].startswith("trl/"))


def test_page_counts_equal_peaks():
    same = {"run": [10, 20], "predicted": [10, 20], "events": {"equal": True, "of": 3}}
    other = {"run": [10, 20], "predicted": [10, 21], "events": {"equal": False, "at": 1, "of": 3}}
    text = runs.page({"trl/sft_full.sh": same, "trl/dpo_lora.sh": other, "trl/kto_qlora.sh": {"failed": "no | training"}})
    assert "1 of 3 files" in text
    assert "| trl/sft_full.sh | h100-80gb | 10 | 20 | 10 | 20 | equal, 3 |" in text
    assert "equal up to 1 of 3" in text and "no / training" in text
    assert runs.is_equal(same) and not runs.is_equal(other) and not runs.is_equal({"failed": "x"})
