"""tools/capture/compare.py: what a program's header says of other releases."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/capture"), str(ROOT / "python")]
import compare

HEADER = "tidemark-program 1\nmodel_type granite\nclass GraniteForCausalLM\ntransformers 5.23.0\ntorch 2.15.0\n\nmodules\n  transformers 1\n"


def test_a_release_that_is_equal_is_noted_once_and_in_order(tmp_path):
    program = tmp_path / "granite"
    program.write_text(HEADER)
    for release in ("5.30.0", "5.24.0", "5.30.0", "5.4.1"):
        compare.note(program, release, True)
    assert program.read_text() == HEADER.replace("torch", "equal_on 5.4.1 5.24.0 5.30.0\ntorch", 1)


def test_one_that_is_not_any_more_is_taken_out(tmp_path):
    program = tmp_path / "granite"
    program.write_text(HEADER)
    compare.note(program, "5.24.0", False)
    assert program.read_text() == HEADER
    compare.note(program, "5.24.0", True)
    compare.note(program, "5.24.0", False)
    assert program.read_text() == HEADER


def test_programs_and_the_table_say_the_same():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (ROOT / "docs/shipped-families.md").read_text().splitlines() if line.startswith("| ")]
    said = {(model_type, of, on) for model_type, of, on, what in rows[2:] if on != of and what.startswith("equal")}
    noted = {
        (program.name, release.name, on)
        for release in (ROOT / "data/programs").iterdir()
        for program in release.iterdir()
        for line in program.read_text().split("\nmodules ")[0].splitlines()
        if line.startswith("equal_on ")
        for on in line.split()[1:]
    }
    assert said and said == {name for name in noted if compare.is_taken(*name)}
