"""tools/testing: which tests run when, and how the runner closes."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
import groups as table
import run

GROUPS, FOLDERS = table.load()
TABLE = """
[quick]
level = "fast"
minutes = 0.1
proves = "the quick"
command = ["sh", "-c", "exit $QUICK"]

[long]
level = "all"
minutes = 1.0
proves = "the long"
command = ["sh", "-c", "echo long"]

[folders]
"." = []
"src" = ["quick"]
"src/deep" = ["quick", "long"]
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """small(*words) -> exit code, of a table with two groups."""
    (tmp_path / "groups.toml").write_text(TABLE)
    monkeypatch.setattr(run.table, "load", lambda read=table.load: read(tmp_path / "groups.toml"))
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    return lambda *words: run.main([*words, "--as-built"])


def test_every_group_of_a_folder_exists():
    assert {name for names in FOLDERS.values() for name in names} <= set(GROUPS)


def test_every_folder_of_the_table_exists():
    assert [folder for folder in FOLDERS if not (ROOT / folder).exists()] == []


def test_every_layer_and_top_folder_has_groups():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    top = {Path(file).parts[0] for file in tracked if "/" in file and not file.startswith(".")}
    layers = {"/".join(Path(file).parts[:2]) for file in tracked if file.startswith("src/") and file.count("/") > 1}
    assert [folder for folder in sorted(top) if folder not in FOLDERS] == []
    assert all(table.groups_of(f"{layer}/x.cpp", FOLDERS) for layer in layers)


def test_every_folder_with_tests_is_in_a_group():
    with_tests = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    paths = {path for group in GROUPS.values() for path in group.paths}
    assert {folder for folder in with_tests if not any(path.startswith(folder) for path in paths)} == set()


def test_every_slow_mark_says_what_it_proves():
    for file in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "slow" and isinstance(node.value, ast.Attribute):
                line = file.read_text().splitlines()[node.lineno - 1]
                assert "slow(" in line and line.count('"') >= 2, f"{file}:{node.lineno}"


def test_longest_folder_names_the_groups():
    folders = {".": ["a"], "src": ["b"], "src/ops": ["c"], "README.md": []}
    assert table.groups_of("src/ops/x.cpp", folders) == ["c"]
    assert table.groups_of("src/opsx/x.cpp", folders) == ["b"]
    assert table.groups_of("README.md", folders) == [] and table.groups_of("other", folders) == ["a"]


def test_contributing_has_the_table():
    assert table.markdown(GROUPS) in (ROOT / "CONTRIBUTING.md").read_text(), "paste `tools/test.sh --table`"


@pytest.mark.parametrize("words, code, shown", [(["quick"], 0, "quick"), (["all"], 0, "long"), ([], 0, "quick")])
def test_groups_that_pass_end_with_0(small, monkeypatch, capfd, words, code, shown):
    monkeypatch.setenv("QUICK", "0")
    assert small(*words) == code
    assert shown in capfd.readouterr().out.splitlines()[-2]


def test_a_group_that_fails_ends_with_1(small, monkeypatch, capfd):
    monkeypatch.setenv("QUICK", "5")
    assert small("all") == 1
    lines = capfd.readouterr().out.splitlines()
    assert any(line.startswith("FAILED (exit code 5)") and line.endswith("quick") for line in lines)
    assert lines[-1].startswith("FAILED")


def test_stop_ends_at_the_first_failure(small, monkeypatch, capfd):
    monkeypatch.setenv("QUICK", "5")
    assert small("all", "--stop") == 1
    assert "long" not in capfd.readouterr().out


def test_an_unknown_group_is_refused(small):
    with pytest.raises(table.Unknown, match="no group of tests is called nothing; there are: quick, long"):
        small("nothing")


def test_changed_runs_groups_of_changed_files(small, monkeypatch, capfd):
    monkeypatch.setenv("QUICK", "0")
    monkeypatch.setattr(run.table, "changed_files", lambda base: ["src/deep/x.cpp"] if base == "main" else ["docs/x"])
    assert small("changed") == 0
    out = capfd.readouterr().out
    assert "quick" in out and "long" not in out  # the default level of the groups
    assert small("changed", "v1") == 0
    assert "touches no group" in capfd.readouterr().out
