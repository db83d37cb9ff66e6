"""Public programs, unmodified (validation/programs): those that the base environment has run here; all are described as they should be."""

import sys

import pytest
from running import PYTHON, ROOT, TIDEMARK

sys.path.insert(0, str(ROOT / "validation/programs"))
import described
import environments
import page
import programs

LIVE = [name for name in described.names() if described.read(name)["live"]]
HOST_BYTES = 4 << 30


@pytest.mark.parametrize("name", described.names())
def test_description(name):
    assert not list(described.problems(name))


def test_what_is_wrong_with_a_description_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(described, "HERE", tmp_path)
    (tmp_path / "a.json").write_text(
        '{"title": "a", "source": {"package": "a"}, "command": ["python {x}"], "sorce": 1, "standins": {"data": {"kind": "chat"}, "more": {"kind": "chats", "lines": 1}, "model": {"kind": "model", "config": "gpt-9"}}}'
    )
    (tmp_path / "b.json").write_text('{"title": "b", "source": {"repository": "a/b", "commit": "12", "release": "1"}, "command": ["python"]}')
    said = " ".join(problem for name in described.names() for problem in described.problems(name))
    for words in ("`sorce` is no key", "nothing gives {x}", "no kind `chat`", "no configuration `gpt-9` is recorded", "unexpected keyword argument 'lines'", "`commit` has 40 digits"):
        assert words in said


def test_the_page_is_current():
    assert page.PAGE.read_text() == page.page()


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PROGRAMS_SOURCES", str(tmp_path))
    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")
    with pytest.raises(environments.Missing, match="https://github.com/a/b at 123456789abc"):
        environments.repository("a/b", "123456789abcdef", "v1")


@pytest.mark.slow("commands of a made environment")
def test_commands_of_the_base_start_the_environment(tmp_path):
    base, folder = tmp_path / "base/bin", tmp_path / "own/bin"
    base.mkdir(parents=True)
    folder.mkdir(parents=True)
    (base / "torchrun").write_text(f"#!{base}/python3.11\nimport torch\n")
    (base / "trl").write_text(f"#!{base}/python\nimport trl\n")
    (base / "activate").write_text("# no script of Python's\n")
    (folder / "trl").write_text("its own\n")
    environments.share_commands(base / "python", tmp_path / "own")
    assert (folder / "torchrun").read_text() == f"#!{folder}/python\nimport torch\n"
    assert (folder / "trl").read_text() == "its own\n"
    assert not (folder / "activate").exists()


def test_stand_ins_are_the_same_on_every_machine(tmp_path):
    for folder in ("a", "b"):
        described.standins.KINDS["chats"](tmp_path / folder, rows=8)
        described.standins.KINDS["llama_weights"](tmp_path / folder, config="llama-3.2-1b")
    assert (tmp_path / "a/train.jsonl").read_bytes() == (tmp_path / "b/train.jsonl").read_bytes()
    weights = (tmp_path / "a/model.safetensors").stat()
    assert weights.st_size > 2 * 1_235_000_000 and weights.st_blocks * 512 < 1 << 20  # a hole


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x\n[rank0]: Traceback (most recent call last):\n[rank0]:   File a\n[rank0]: ValueError: first\nTraceback (most recent call last):\n  File b\nRuntimeError: second\n", "ValueError: first"),
        ("tidemark: the program failed with exit code 3\n\n", "tidemark: the program failed with exit code 3"),
        (f"ImportError: no name (unknown in {programs.environments.ROOT}/.venv/lib/a.py)\n", "ImportError: no name (unknown in .venv/lib/a.py)"),
        ("", ""),
    ],
)
def test_the_first_error(text, why):
    assert programs.first_error(text) == why


@pytest.mark.slow("public programs, with the packages that each needs")
@pytest.mark.oracle
@pytest.mark.parametrize("name", LIVE)
def test_program(name, monkeypatch, tmp_path):
    """With the peak that the table says, where that is of the same releases."""
    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")
    heading = programs.about(PYTHON)
    row = programs.try_program(name, PYTHON, TIDEMARK)
    assert (row["outcome"], row["why"]) == ("ran", "")
    assert row["host_bytes"] < HOST_BYTES
    stored = next((rows[name] for about, rows in page.releases() if about == heading and name in rows), None)
    if stored and stored["versions"] == row["versions"]:
        assert (row["peak"], row["steps"]) == (stored["peak"], stored["steps"])


def test_host_memory_of_a_tree_is_that_of_its_processes(tmp_path):
    import measured

    child = "data = bytearray(b'x' * (64 << 20)); import time; time.sleep(2.5)"
    done = measured.run([sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('over')"], 60, tmp_path)
    assert (done.exit_code, done.output) == (0, "over\n")
    assert 64 << 20 < done.host_bytes < 256 << 20
    assert measured.run([sys.executable, "-c", "import time; time.sleep(60)"], 1, tmp_path).exit_code is None
