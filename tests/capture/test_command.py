"""`python -m tidemark.capture` as a user calls it."""

import json
import os
import pathlib
import subprocess
import sys

import grammar
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.oracle
TINY = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 256}
OWN = """
import torch
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)
    def forward(self, x, labels):
        return {"loss": torch.nn.functional.mse_loss(self.down(self.up(x).relu()), labels)}
def build(batch, seq):
    return Block(), {"x": torch.zeros(batch, seq, 16), "labels": torch.zeros(batch, seq, 16)}
def alone():
    return Block()
"""


def capture(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run([os.environ["TIDEMARK_PYTHON"], "-m", "tidemark.capture", *map(str, words)], capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.slow("a captured program is found again")
def test_a_program_is_kept(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    first = capture(tmp_path, "config.json", "--attn", "eager")
    assert first.returncode == 0, first.stderr
    program = grammar.read(first.stdout)
    assert program.header["attention"] == ["eager"] and json.loads(program.header["config"][0]) == TINY
    kept = list((tmp_path / "cache" / "tidemark" / "programs").iterdir())
    assert [path.read_text() for path in kept] == [first.stdout]
    kept[0].write_text("what was kept\n")
    assert capture(tmp_path, tmp_path, "--attn", "eager").stdout != "what was kept\n"  # asked in other words: another file
    assert capture(tmp_path, "config.json", "--attn", "eager").stdout == "what was kept\n"


def test_a_module_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    done = capture(tmp_path, "own.py:build", "-o", "own.txt")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    text = (tmp_path / "own.txt").read_text()
    grammar.check(grammar.read(text))
    assert "class Block#1(x: T[B, S, 16], labels: T[B, S, 16]):" in text and "    %1: T[B, S, 64] = torch.Tensor.relu(%0)".strip() in text


@pytest.mark.slow("each mistake in a module's place", keep=["none.json", "bild", "ctc"])
@pytest.mark.parametrize(
    "words, message, code",
    [
        pytest.param(["none.json"], "none.json: no such file", 2, id="none.json"),
        pytest.param(["none.py:build"], "none.py: no such file", 2, id="none.py"),
        pytest.param(["own.py:bild"], "own.py: no function bild; it has Block, build, alone", 2, id="bild"),
        pytest.param(["own.py:alone"], "own.py:alone returns no pair of a module and a dict of what its forward is called with", 2, id="alone"),
        pytest.param(["near.json"], "has no model type llamma; the nearest is llama", 2, id="llamma"),
        pytest.param(["config.json", "--head", "ctc"], "config.json: llama has no ctc head; it has causal_lm, sequence_classification", 2, id="ctc"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, words, message, code):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "near.json").write_text('{"model_type": "llamma"}')
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    done = capture(tmp_path, *words)
    assert done.returncode == code and done.stdout == ""
    assert done.stderr.startswith("tidemark: ") and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    bare = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); sys.modules['torch'] = None\n"
            "from importlib import metadata\nmetadata.version = lambda name: (_ for _ in ()).throw(metadata.PackageNotFoundError(name))\n"
            "from tidemark.capture import asking, mistakes\n"
            "try: asking.ask({'source': 'config.json'})\nexcept mistakes.Mistake as m: print(m.exit_code, m)",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert bare.stdout.startswith("3 torch is not installed for "), bare.stderr


def test_a_family_that_is_not_known_is_captured_when_it_is_predicted(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**TINY, "model_type": "smollm3", "num_key_value_heads": 2, "pad_token_id": 0}))
    python = pathlib.Path(os.environ["TIDEMARK_PYTHON"])
    environment = {**os.environ, "VIRTUAL_ENV": str(python.parent.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [os.environ["TIDEMARK_BIN"], "predict", "config.json", "--batch", "2", "--seq", "64", "--gpu", "h200", "--json", "report.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert any("the model is a program" in row["what"] for row in report["assumptions"])
    assert any(row["name"].startswith("SmolLM3ForCausalLM") for row in report["at_peak"]["by_module"])


def predict(folder, *words):
    python = pathlib.Path(os.environ["TIDEMARK_PYTHON"])
    environment = {**os.environ, "VIRTUAL_ENV": str(python.parent.parent), "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run([os.environ["TIDEMARK_BIN"], *map(str, words)], capture_output=True, text=True, cwd=folder, env=environment)


CONVOLVED = {"model_type": "vit", "hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 192, "image_size": 70, "patch_size": 10}


def test_a_convolution_that_no_table_has_is_asked_of_cudnn(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONVOLVED))
    words = ("predict", "config.json", "--batch", 4, "--images", 1, "--gpu", "l4", "--json", "report.json")
    asked = predict(tmp_path, *words)
    assert asked.returncode == 0, asked.stderr
    (kept,) = (tmp_path / "cache/tidemark/convolutions").glob("*/sm_89.txt")
    assert kept.read_text().startswith("bfloat16 10x10 70x70 96 of 4\t") and kept.read_text().count("\n") == 1
    versions = json.loads((tmp_path / "report.json").read_text())["versions"]
    nobody = {**os.environ, "PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    alone = lambda: subprocess.run([os.environ["TIDEMARK_BIN"], *map(str, words), "--torch", versions["torch"], "--transformers", versions["transformers"]], capture_output=True, text=True, cwd=tmp_path, env=nobody)
    assert alone().stdout.splitlines()[:4] == asked.stdout.splitlines()[:4]
    kept.write_text(kept.read_text().replace("\t", "\tbroken "))
    refused = alone()
    assert refused.returncode == 3 and refused.stderr.count("\n") == 1
    assert refused.stderr.endswith("bfloat16 10x10 70x70 96, and cuDNN was not asked: no Python is active\n")


def test_a_plan_asks_cudnn_for_what_no_table_has(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONVOLVED))
    largest = predict(tmp_path, "plan", "config.json", "--images", 1, "--gpu", "l4", "--memory", "2GB", "--largest", "batch", "--fix", "checkpointing", "--json", "plan.json")
    assert largest.returncode == 0 and "cuDNN was not asked" not in largest.stdout, largest.stderr
    assert len((next((tmp_path / "cache/tidemark/convolutions").glob("*/*.txt"))).read_text().splitlines()) > 5


def test_a_convolution_of_another_cudnn_is_not_asked_for(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONVOLVED))
    refused = predict(tmp_path, "predict", "config.json", "--batch", 4, "--images", 1, "--gpu", "l4", "--torch", "2.14.1")
    assert refused.returncode == 3 and "and torch 2.14.1 has 9.24" in refused.stderr, refused.stderr


SIZES = ("--batch", 4, "--seq", 1024, "--gpu", "l4")


def test_a_function_of_ones_own_is_predicted_and_planned(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert capture(tmp_path, "own.py:build", "-o", "own.program").returncode == 0
    from_function = predict(tmp_path, "predict", "--from", "own.py:build", *SIZES)
    assert from_function.returncode == 0, from_function.stderr
    assert from_function.stdout == predict(tmp_path, "predict", "--program", "own.program", *SIZES).stdout
    assert from_function.stdout == predict(tmp_path, "predict", "--from", "own.py:build", *SIZES, "--dtype", "fp32").stdout  # as its weights are
    planned = predict(tmp_path, "plan", "--from", "own.py:build", *SIZES, "--goal", "least_memory")
    assert planned.returncode == 0 and "tidemark predict --from own.py:build " in planned.stdout, planned.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["--from", "own.py:bild"], "--from: own.py: no function bild; it has Block, build, alone"),
        (["--from", "none.py:build"], "--from: none.py: no such file"),
        (["--from", "own.py"], "--from: own.py names no function of a Python file\n  such as model.py:build"),
        (["config.json", "--from", "own.py:build"], "--from: it is a model itself\n  leave CONFIG out"),
        (["--program", "own.program", "--from", "own.py:build"], "--from: it is a model itself\n  leave --program out"),
    ],
)
def test_a_function_of_ones_own_that_is_none(tmp_path, words, message):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    done = predict(tmp_path, "predict", *words, *SIZES)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tidemark: {message}\n")
