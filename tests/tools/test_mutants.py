"""The catalogue of mutants, and the tree in which the environment variable MUTANT selects one."""

import ast
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import mutant_results
import mutant_schemata
import pytest

ROOT = Path(__file__).resolve().parents[2]

FIND, REPLACE = "size < 512", "MUTANT ? size <= 512 : size < 512"
CPP = mutant_schemata.Mutant("area", "one-id", "part.h", FIND, REPLACE, "a bound")
PYTHON = dataclasses.replace(CPP, file="part.py", find="size < 512", replace="size < (0 if MUTANT else 512)")
TEXT = "inline bool is_small(int size) { return size < 512; }\n"
MAIN = '#include "part.h"\n#include "part.h"\nint main() { return is_small(512) ? 1 : 0; }\n'


def problems(folder, text, *mutants):
    (folder / "part.h").write_text(text)
    return mutant_schemata.problems(folder, list(mutants))


def test_catalogue_fits_the_sources():
    mutants = mutant_schemata.read(ROOT)
    assert len(mutants) >= 72 and mutant_schemata.problems(ROOT, mutants) == []


def test_python_mutants_of_the_catalogue_compile():
    mutants = [mutant for mutant in mutant_schemata.read(ROOT) if mutant.file.endswith(".py")]
    for file in {mutant.file for mutant in mutants}:
        own = [mutant for mutant in mutants if mutant.file == file]
        ast.parse(mutant_schemata.selectable((ROOT / file).read_text(), own))


@pytest.mark.parametrize("text, count", [("", 0), (TEXT * 2, 2)])
def test_missing_or_doubled_snippet_is_found(tmp_path, text, count):
    found = f"one-id: its snippet occurs {count} times in part.h, not once"
    assert problems(tmp_path, text, CPP) == [found]
    assert problems(tmp_path, TEXT, CPP) == []


def test_missing_file_is_found(tmp_path):
    assert problems(tmp_path, TEXT, dataclasses.replace(CPP, file="gone.h")) != []


def test_unselectable_mutant_is_found(tmp_path):
    for change, found in (({"replace": "size <= 512"}, "no MUTANT"), ({"id": "One Id"}, "not an id")):
        (problem,) = problems(tmp_path, TEXT, dataclasses.replace(CPP, **change))
        assert found in problem


def test_ids_and_mutants_per_file_are_limited(tmp_path):
    found = problems(tmp_path, TEXT, CPP, CPP, CPP)
    assert "one-id: the id occurs twice" in found
    assert "one-id: part.h has more than 2 mutants" in found


def test_overlapping_snippets_are_an_error():
    other = dataclasses.replace(CPP, id="other", find="return size <", replace="return MUTANT || size <")
    with pytest.raises(ValueError, match="one-id: its snippet overlaps"):
        mutant_schemata.selectable(TEXT, [CPP, other])


def test_environment_selects_a_cpp_mutant(tmp_path):
    (tmp_path / "part.h").write_text("#pragma once\n" + TEXT)
    (tmp_path / "main.cpp").write_text(MAIN)
    mutant_schemata.apply(tmp_path, [CPP])
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fno-exceptions"]
    main = tmp_path / "main"
    subprocess.run(["g++", *flags, "-o", main, main.with_suffix(".cpp")], check=True)
    run = lambda name: subprocess.run([main], env={**os.environ, "MUTANT": name}).returncode
    assert [run(""), run("one-id"), run("one")] == [0, 1, 0]


def test_environment_selects_a_python_mutant():
    text = mutant_schemata.selectable('"""A module."""\nprint(f"{size < 512}")\n', [PYTHON])
    command = [sys.executable, "-c", "size = 7\n" + text]
    run = lambda name: subprocess.check_output(command, env={"MUTANT": name}, text=True)
    assert [run(""), run("one-id")] == ["True\n", "False\n"]


def test_copied_tree_has_what_is_listed(tmp_path):
    (tmp_path / "root" / "folder").mkdir(parents=True)
    for name in ("folder/kept", "left"):
        (tmp_path / "root" / name).write_text(name)
    mutant_schemata.copy_tree(tmp_path / "root", tmp_path / "tree", ["folder/kept", "deleted"])
    assert (tmp_path / "tree/folder/kept").read_text() == "folder/kept"
    assert not (tmp_path / "tree/left").exists() and (tmp_path / "tree/.git").exists()


def test_results_continue_after_an_interruption(tmp_path):
    file = tmp_path / "results.jsonl"
    mutant_results.Results(file).add({"id": "a", "caught": False})
    with open(file, "a") as interrupted:
        interrupted.write('{"id": "b", "cau')
    results = mutant_results.Results(file)
    assert list(results.of_mutants()) == ["a"]
    results.add({"id": "c", "caught": True})
    assert list(mutant_results.Results(file).of_mutants()) == ["a", "c"]


def test_command_that_takes_too_long_ends_with_its_children(tmp_path):
    command = ["sh", "-c", f"sleep 60; touch {tmp_path}/late"]
    code, seconds, _ = mutant_results.run_timed(command, tmp_path, dict(os.environ), 0.2)
    assert code == mutant_results.TIMED_OUT and seconds < 30


def test_failure_names_the_first_failed_test():
    output = "[ RUN ] A.B\n[  FAILED  ] A.B (3 ms)\n[  FAILED  ] A.C\n1 FAILED TEST\n"
    assert mutant_results.failure(output) == "[  FAILED  ] A.B (3 ms)"
    assert mutant_results.failure("a\nb\n\n") == "b" and mutant_results.failure("") == ""


def test_table_counts_caught_and_escaped():
    mutants = [dataclasses.replace(CPP, id=name) for name in ("a", "b", "c")]
    rows = {"a": {"id": "a", "caught": True, "group": "ops"}, "b": {"id": "b", "caught": False, "group": "", "escaped": True}}
    text = mutant_results.table(mutants, rows)
    assert "| area | 3 | 1 | unit 1 |" in mutant_results.table(mutants, rows, {"ops": "unit"})
    assert "| area | 3 | 1 | ops 1 |" in text and "Escaped: 1. Not tried in every group: 1." in text
    assert "| b | part.h | a bound |" in text


FAKE_GROUPS = "".join(f'[{name}]\nlevel = "default"\nproves = ""\nminutes = {minutes}\n' for name, minutes in (("oracle", 3), ("data", 0.1), ("serve", 0.2)))
FAKE_TEST_SH = """\
#!/bin/sh
echo "$@" "MUTANT=$MUTANT" >> calls
[ "$5" != data ] || { echo "FAILED always"; exit 1; }
[ "$5-$MUTANT" != "oracle-$CAUGHT" ] || { echo "FAILED test_of_it"; exit 1; }
"""


def test_run_tries_cheap_groups_first_and_skips_broken_ones(tmp_path, monkeypatch):
    mutant = mutant_schemata.read(ROOT)[0].id
    for folder in ("tools", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests/groups.toml").write_text(FAKE_GROUPS + '[folders]\n"." = ["oracle", "data", "serve"]\n')
    (tmp_path / "tools/test.sh").write_text(FAKE_TEST_SH)
    (tmp_path / "tools/test.sh").chmod(0o755)
    monkeypatch.setenv("CAUGHT", mutant)
    out = tmp_path / "results.jsonl"
    command = [sys.executable, ROOT / "tools/mutants.py", "run", tmp_path, "--only", mutant, "--out", out]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "data: fails without a mutant" in done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["group"] for row in rows if row.get("baseline")] == ["data", "serve", "oracle"]
    assert (rows[-1]["id"], rows[-1]["group"], rows[-1]["output"]) == (mutant, "oracle", "FAILED test_of_it")
    calls = (tmp_path / "calls").read_text().splitlines()
    mutants_calls = [f"--level default --stop --as-built {group} MUTANT={mutant}" for group in ("serve", "oracle")]
    assert [call for call in calls if call.endswith(f"={mutant}")] == mutants_calls
    subprocess.run(command, check=True)
    assert (tmp_path / "calls").read_text().splitlines() == calls  # nothing is tried twice
