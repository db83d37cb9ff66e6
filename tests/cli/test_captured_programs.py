"""`predict --program`: a captured model in the place of a family that is known, and what is wrong with one."""

import gzip
import json
from pathlib import Path

import pytest

CAPTURED = Path(__file__).resolve().parents[1] / "golden" / "programs"
ASKED = ("--batch", 2, "--seq", 64, "--gpu", "h200", "--torch", "2.11.0")


@pytest.fixture
def captured(folders):
    """captured(name, change) -> path of that program, with its text changed."""

    def unpack(name, change=lambda text: text):
        path = folders / "work" / f"{name}.program"
        path.write_text(change(gzip.decompress((CAPTURED / f"{name}.program.gz").read_bytes()).decode()))
        return path

    return unpack


def refused(done, exit_code, *texts):
    assert done.returncode == exit_code and done.stdout == "", done.stdout + done.stderr
    assert all(text in done.stderr for text in texts), done.stderr


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_it_is_as_the_family_that_is_known(tidemark, captured, folders, name):
    program = captured(name)
    config = folders / "work" / "config.json"
    config.write_text(next(line for line in program.read_text().splitlines() if line.startswith("config "))[len("config ") :])
    reports = []
    for model in (("--program", program), (config,)):
        done = tidemark("predict", *model, *ASKED, "--json", "report.json")
        assert done.returncode == 0, done.stderr
        reports.append(json.loads((folders / "work" / "report.json").read_text()))
    assert reports[0]["peak"] == reports[1]["peak"] and reports[0]["steps"] == reports[1]["steps"]
    assert any("the model is a program" in row["what"] for row in reports[0]["assumptions"])


def test_a_file_that_is_none(tidemark, captured):
    refused(tidemark("predict", "--program", captured("llama", lambda text: "junk\n" + text), *ASKED), 2, "llama.program:1: it is no captured program")
    refused(tidemark("predict", "--program", "missing.program", *ASKED), 2, "missing.program: cannot read")


def test_all_functions_that_are_not_known_are_named(tidemark, captured):
    text = captured("llama", lambda text: text.replace("torch.nn.functional.linear(", "torch.nn.functional.lineaar(").replace("torch.rsqrt(", "torch.rsqurt(").replace("torch.Tensor.rsqrt(", "torch.rsqurt("))
    refused(tidemark("predict", "--program", text, *ASKED), 3, "torch.nn.functional.lineaar", "rsqurt")


def test_both_a_program_and_a_configuration(tidemark, captured, folders):
    (folders / "work" / "config.json").write_text("{}")
    refused(tidemark("predict", "config.json", "--program", captured("llama"), *ASKED), 2, "a program brings its own configuration")


def test_what_a_program_does_not_tell(tidemark, captured):
    llava = captured("llava")
    refused(tidemark("predict", "--program", llava, *ASKED, "--images", 1, "--gpus", 2, "--parallel", "zero3"), 3, "ZeRO 3")
    refused(tidemark("predict", "--program", captured("llama"), *ASKED, "--gpus", 2, "--parallel", "ep"), 3, "the model has no experts")


def test_another_family_without_an_environment_to_capture_it_in(tidemark, folders):
    (folders / "work" / "config.json").write_text('{"model_type": "xlnet"}')
    refused(tidemark("predict", "config.json", *ASKED, PATH="/usr/bin:/bin", VIRTUAL_ENV="", CONDA_PREFIX=""), 3, 'no model type "xlnet" here', "it was not captured: ")
