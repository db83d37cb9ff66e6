"""predict and explain: options, spec files, and one clear error for each mistake.  What is predicted is tested elsewhere."""

import json
import pathlib

import pytest
from test_errors import UNSUPPORTED, USAGE, refused
from test_other_commands import REPORT

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def work(folders):
    (folders / "work" / "config.json").write_text('{"model_type": "no_such_model"}')
    return folders / "work"


def test_model_is_missing(tidemark):
    refused(tidemark("predict", "--gpu", "t4"), USAGE, "CONFIG is missing", "--spec")
    refused(tidemark("predict", "none.json", "--gpu", "t4"), USAGE, "none.json", "No such file")


def test_card_is_missing_or_wrong(tidemark, work):
    refused(tidemark("predict", "config.json"), USAGE, "--gpu is missing")
    refused(tidemark("predict", "config.json", "--gpu", "h100-80g"), USAGE, "did you mean h100-80gb?")
    refused(tidemark("predict", "config.json", "--gpu", "t4", "--memory", "80G"), USAGE, "GB or GiB")


def test_model_is_not_known(tidemark, work):
    done = tidemark("predict", ".", "--gpu", "t4")
    assert done.returncode in (USAGE, UNSUPPORTED)
    assert done.stdout == "" and done.stderr.startswith("tidemark: ")


@pytest.mark.parametrize("text, says", [("{", "not JSON"), ("[]", "expected a map"), ("{}", '"model_type" is missing'), ('{"model_type": "a", "model_type": "b"}', "given twice")])
def test_config_is_wrong(tidemark, work, text, says):
    (work / "bad.json").write_text(text)
    refused(tidemark("predict", "bad.json", "--gpu", "t4"), USAGE, "bad.json", says)


@pytest.mark.parametrize(
    "options, says",
    [
        (["--bacth", "3"], "did you mean --batch?"),
        (["--batch", "many"], '--batch: expected a whole number, found "many"'),
        (["--batch", "0"], "--batch: expected a number between 1 and 1048576, found 0"),
        (["--batch", "99999999999999999999"], "--batch"),
        (["--batch"], "--batch"),
        (["--batch", "1000000", "--seq", "1000000"], "more than 2^32 tokens"),
        (["--optimizer", "adamx"], "did you mean adamw?"),
        (["--image-size", "3x4x5"], "is not the size of an image"),
        (["--amsgrad", "--optimizer", "sgd"], "sgd has no such option"),
        (["--torch", "latest"], "is not a version"),
        (["--lora-r", "-1"], "--lora-r"),
        (["--json", "no/such/r.json"], "does not exist"),
        (["--events", "no/such/e.txt"], "does not exist"),
        (["--json", "-", "--csv", "-"], "cannot both go to stdout"),
        (["--spec", "none.yaml"], "none.yaml"),
    ],
)
def test_an_option_is_wrong(tidemark, work, options, says):
    refused(tidemark("predict", "config.json", "--gpu", "t4", *options), USAGE, says)


@pytest.mark.parametrize(
    "name, text, says",
    [
        ("s.yaml", "batch: 1\nbacth: 2\n", 's.yaml: line 2: "bacth" is not a known key\n  did you mean batch?'),
        ("s.yaml", "batch: 1\nseq: 2\nbatch: 3\n", 's.yaml: line 3: the key "batch" is given twice\n  it stands in line 1 already'),
        ("s.yaml", "batch: many\n", 's.yaml: line 1: batch: expected a whole number, found "many"'),
        ("s.yaml", "lora:\n  r: 0\n", "s.yaml: line 2: lora.r: expected a number between 1 and 65536, found 0"),
        ("s.yaml", "a: &x [1]\nb: *x\n", "anchors (&name) are not read"),
        ("s.yaml", "a: [1\n", "it is not YAML"),
        ("s.yaml", "- 1\n", "expected a map, found a list"),
        ("s.yaml", "torch: 2.11\n", "write it in quotes"),
        ("s.yaml", "model: none/config.json\n", "No such file"),
        ("s.json", '{"batch": 1,}', "it is not JSON: mistake in line 1"),
        ("s.json", '{"batch": 1, "batch": 2}', 'the key "batch" is given twice'),
        ("s.json", '{"batch": true}', "batch: expected a whole number, found true"),
        ("s.json", "[" * 100, "nested too deeply"),
    ],
)
def test_a_spec_file_is_wrong(tidemark, work, name, text, says):
    (work / name).write_text(text)
    refused(tidemark("predict", "--spec", name, "--gpu", "t4"), USAGE, says)


def test_paths_in_a_spec_file_start_at_its_folder(tidemark, work):
    (work / "specs").mkdir()
    (work / "specs" / "s.yaml").write_text("model: ../config.json\ngpu: t4\n")
    done = tidemark("predict", "--spec", "specs/s.yaml")
    assert "No such file" not in done.stderr
    refused(tidemark("predict", "--spec", "specs/s.yaml", "--gpu", "none.json"), USAGE, "none.json: cannot read")


def test_the_schema_knows_what_the_program_knows():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "spec.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in ("full.json", "least.json"):
        validator.validate(json.loads((ROOT / "fuzz" / "corpus" / "spec_json" / name).read_text()))
    for wrong in ({"bacth": 1}, {"batch": 0}, {"optimizer": "adamx"}, {"lora": {"r": 0}}, {"freeze": "a"}):
        assert not validator.is_valid(wrong), wrong


def test_explain_reads_a_report(tidemark, work):
    (work / "r.json").write_text(json.dumps(REPORT))
    done = tidemark("explain", "r.json", "-d", "module,category", "-n", "3")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == REPORT["verdict"]
    assert "  by module: the report does not say" in lines
    assert any("parameters" in line and "1,073,741,824" in line and "100.0 %" in line for line in lines)


@pytest.mark.parametrize("options, says", [(["-d", "modul"], "did you mean module?"), (["-n", "0"], "--rows"), (["--batch", "3"], "it is a report already")])
def test_explain_refuses(tidemark, work, options, says):
    (work / "r.json").write_text(json.dumps(REPORT))
    refused(tidemark("explain", "r.json", *options), USAGE, says)


@pytest.mark.parametrize("command", ["models", "ops"])
def test_lists_are_json_too(tidemark, command):
    listed = json.loads(tidemark(command, "--json").stdout)
    assert len(tidemark(command).stdout.splitlines()) == len(listed) + 1
