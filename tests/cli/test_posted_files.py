"""Trainer files as people post them (tests/posted): each is answered, or one error names all that is not predicted."""

import importlib.util
import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("posted_files", ROOT / "tools" / "posted_files.py")
posted = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(posted)

ENTRIES = posted.index()


def asked(tidemark, folders, entry, *more):
    config = folders / "work" / f"{entry['model']}.json"
    config.write_text(json.dumps(posted.configs()[entry["model"]]))
    return tidemark(*posted.command(entry, config, *more))


def test_each_posted_file_names_its_source():
    assert len(ENTRIES) >= 40
    assert all(entry["source"].startswith("github.com/") for entry in ENTRIES)
    names = {entry["file"] for entry in ENTRIES}
    assert len(names) == len(ENTRIES) and all((posted.POSTED / name).exists() for name in names)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["file"] for entry in ENTRIES])
def test_posted_file_is_answered_or_refused_whole(tidemark, folders, entry):
    done = asked(tidemark, folders, entry)
    row = next(line for line in posted.PAGE.read_text().splitlines() if line.startswith(f"| [{entry['file']}]"))
    assert ("`" not in row) == posted.is_answered(done), "run tools/posted_files.py"
    if posted.is_answered(done):
        assert "keys that are not read" not in done.stdout
        return
    assert done.returncode == 3, done.stderr
    if "open" in entry:  # the model's program says nothing about it, whatever the file
        assert entry["open"] in done.stderr
        return
    lines = posted.refusal_lines(done)
    assert all("nearest: " in line for line in lines), done.stderr
    near = asked(tidemark, folders, entry, "--nearest")
    assert posted.is_answered(near), near.stderr
    assert near.stdout.count("; taken: ") == len(lines)


def test_page_of_posted_files_counts_answers():
    text = posted.PAGE.read_text()
    near = sum("open" not in entry for entry in ENTRIES)
    assert f"holds {len(ENTRIES)} files" in text and f"{near} of {len(ENTRIES)} are answered so" in text
    assert all(entry["file"] in text for entry in ENTRIES)


def test_alignment_handbook_is_read_as_trl(tidemark, folders):
    """It names neither TRL's dataset nor its length: zephyr_full.yaml has dataset_mixture and max_seq_length."""
    entry = next(entry for entry in ENTRIES if entry["file"] == "trl/zephyr_full.yaml")
    done = asked(tidemark, folders, entry, "--json", "r.json")
    assert posted.is_answered(done), done.stderr
    assert json.loads((folders / "work/r.json").read_text())["training"]["options"]["loop"] == "sft_trainer"
