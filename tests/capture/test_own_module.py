"""tidemark.predict of a module that has no configuration: it is captured, and equals the training of itself on the virtual GPU, to the byte."""

import json
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
pytestmark = pytest.mark.oracle

MISTAKES = """
import sys, torch, tidemark
sys.path.insert(0, {here!r})
import own_module
class Here(torch.nn.Linear):
    pass
def said(*words, **options):
    try:
        tidemark.predict(*words, seq=64, gpu="l4", **options)
    except tidemark.Error as error:
        print(error.code, error, sep=": ")
block = own_module.Block()
said(block)
said(block, inputs=[1])
said(block, inputs=own_module.inputs, dtype="bf16")
said(own_module.Block().to(torch.float64), inputs=own_module.inputs)
said(own_module.Block(), inputs=lambda batch, seq: {{"tokens": torch.zeros(batch, seq)}})
said(own_module.Block(), inputs=own_module.inputs(2, 64), checkpointing="non_reentrant")
said({{"model_type": "llama"}}, inputs=own_module.inputs)
said(Here(4, 4), inputs={{"input": torch.zeros(2, 4)}})
"""
UNGUARDED = """
import torch, tidemark
class Here(torch.nn.Linear):
    pass
tidemark.predict(Here(4, 4), inputs={"input": torch.zeros(2, 4)}, gpu="l4")
"""


def run(folder, *words):
    python = os.environ["TIDEMARK_PYTHON"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python"), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))}
    command = [os.environ["TIDEMARK_BIN"], "run", "--gpu", "h100-80gb", "--quiet", "--keep-going", "--json", folder / "report.json", "--", python]
    return subprocess.run([*map(str, command), *map(str, words)], capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.slow("modules of users, each way to train them")
@pytest.mark.parametrize("module", ["block", "adapted", "regressor", "near", "remembers", "convolved", "spoken"])
def test_it_equals_its_own_training(tmp_path, module):
    trained = run(tmp_path, HERE / "own_module.py", "train", module, 8, 100)
    assert trained.returncode == 0, trained.stderr
    expected = json.loads((tmp_path / "report.json").read_text())["peak"]
    predicted = run(tmp_path, HERE / "own_module.py", "predict", module, 8, 100)
    peaks = json.loads(predicted.stdout.splitlines()[0])
    planned = peaks.pop("plan")  # of the same way, which is the smallest change
    assert planned["change"] == {} and all(planned["peak"][key] == expected[key] for key in planned["peak"])
    assert list(peaks) == ["meta", "cpu", "fixed"]
    assert all(peak == expected for peak in peaks.values()), (expected, peaks)


@pytest.mark.slow("mistakes in modules of users")
def test_mistakes(tmp_path):
    (tmp_path / "wrong.py").write_text(MISTAKES.format(here=str(HERE)))
    lines = [line for line in run(tmp_path, "wrong.py").stdout.splitlines() if not line.startswith(" ")]
    for line, (code, *parts) in zip(
        lines,
        [
            ("usage", "inputs: a module without a configuration does not say what its forward takes"),
            ("bad_value", "inputs: list is no dict of what the forward is called with, by name"),
            ("bad_value", "dtype: the module's weights are of fp32"),
            ("unsupported", "Block: its weights are of float64, which is not trained in"),
            ("unsupported", "Block: the model did not run: TypeError", "missing 1 required positional argument: 'labels'"),
            ("unsupported", "checkpointing: Block has no layers that transformers would checkpoint"),
            ("usage", "inputs: what the forward takes is known from the configuration"),
            ("unsupported", "labels: ", "computes no loss to train on"),
        ],
        strict=True,
    ):
        assert line.startswith(f"{code}: ") and all(part in line for part in parts), line
    (tmp_path / "unguarded.py").write_text(UNGUARDED)
    assert 'put what the program does behind `if __name__ == "__main__":`' in run(tmp_path, "unguarded.py").stderr
