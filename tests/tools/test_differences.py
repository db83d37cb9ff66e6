"""What a release does differently, stored and read back: on small made-up recordings."""

import gzip

import differences
import pytest


def folder_of(path, recordings):
    path.mkdir()
    for name, text in recordings.items():
        with gzip.open(path / f"{name}.txt.gz", "wt") as file:
            file.write(text)
    return path


@pytest.mark.parametrize("new", ["", "1\n", "1\n2\n3\n4\n5\n", "0\n1\n2\n3\n", "1\n3\n", "2\n3\n4\n", "1\n9\n3\n", "9\n1\n2\n9\n3\n9\n", "3\n2\n1\n"])
@pytest.mark.parametrize("old", ["", "1\n2\n3\n"])
def test_an_edit_script_is_undone_by_its_reader(old, new):
    assert differences.edited(old, differences.edits(old, new)) == new


def test_a_recording_that_differs_in_the_release_alone_is_not_stored(tmp_path):
    base = folder_of(tmp_path / "base", {"adamw": '{"torch": "2.11.0"}\n+512\n'})
    raw = folder_of(tmp_path / "raw", {"adamw": '{"torch": "2.15.0"}\n+512\n'})
    assert differences.differences(base, raw, "2.15.0") == "base 2.11.0\nrelease 2.15.0\n"


def test_edits_new_recordings_and_missing_ones_are_stored(tmp_path):
    base = folder_of(tmp_path / "base", {"adamw": "torch 2.11.0\n+512\n-512\n", "gemini": "+1\n", "sgd": "+2\n"})
    raw = folder_of(tmp_path / "raw", {"adamw": "torch 2.15.0\n+512\n+1024\n-512\n", "muon": "+3\ncase of its own\n+4\n", "sgd": "+2\n"})
    text = differences.differences(base, raw, "2.15.0")
    assert text.splitlines() == ["base 2.11.0", "release 2.15.0", "without gemini", "case adamw", "a2 1", "+1024", "case muon", "a0 3", "+3", "case of its own", "+4"]
    scripts, without = differences.stored(text)
    assert without == ["gemini"]
    assert differences.edited("", scripts["muon"]) == "+3\ncase of its own\n+4\n"
    assert differences.edited("torch 2.15.0\n+512\n-512\n", scripts["adamw"]) == "torch 2.15.0\n+512\n+1024\n-512\n"


def test_the_stored_file_is_no_recording_itself(tmp_path, monkeypatch, capsys):
    base = folder_of(tmp_path / "steps", {"adamw": "2.11.0\n+512\n"})
    raw = folder_of(tmp_path / "raw", {"adamw": "2.15.0\n+1024\n"})
    monkeypatch.setattr(differences, "GOLDEN", tmp_path)
    differences.write("steps", raw, "2.15.0")
    assert "1 of 1 cases differ, 0 are not recorded" in capsys.readouterr().out
    assert set(differences.recordings(base)) == {"adamw"}
    differences.read("steps", "2.15.0")
    assert capsys.readouterr().out == "2.15.0\n+1024\n"


def test_new_recordings_come_to_those_that_are_stored(tmp_path, monkeypatch, capsys):
    folder_of(tmp_path / "steps", {"adamw": "2.11.0\n+512\n", "sgd": "+2\n", "adam": "+7\n"})
    monkeypatch.setattr(differences, "GOLDEN", tmp_path)
    differences.write("steps", folder_of(tmp_path / "raw", {"adamw": "2.15.0\n+1024\n"}), "2.15.0")
    differences.add("steps", folder_of(tmp_path / "new", {"sgd": "+3\n"}), "2.15.0")
    assert differences.stored(differences.text_of(tmp_path / "steps/torch-2.15.0.diff.gz"))[1] == ["adam"]
    capsys.readouterr()
    differences.read("steps", "2.15.0")
    assert capsys.readouterr().out == "2.15.0\n+1024\n+3\n"
    differences.mark("steps", "2.15.0", "sgd")
    assert "1 of 1 cases differ, 2 are not recorded" in capsys.readouterr().out
    differences.unpack("2.15.0", tmp_path / "unpacked")
    assert {name: differences.text_of(path) for name, path in differences.recordings(tmp_path / "unpacked/steps").items()} == {"adamw": "2.15.0\n+1024\n"}
