"""Recordings of tests/golden/published: of every configuration that the repository holds, and what this transformers makes again."""

import importlib.util
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDER = ROOT / "tools/trace/record_published.py"
# A model of text, one with images, experts, layers of several kinds, and an encoder.
FEW = ["models/gpt2", "models/bert-base-uncased", "models/qwen3-vl-30b-a3b-instruct", "models/nvidia-nemotron-3-nano-30b-a3b-bf16", "defaults/t5.0"]

spec = importlib.util.spec_from_file_location("record_published", RECORDER)
recorder = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recorder)


def recorded_again(*names):
    """(release, {name: lines}) of this environment's transformers."""
    python = os.environ.get("TIDEMARK_PYTHON") or pytest.skip("TIDEMARK_PYTHON is not set")
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", python, RECORDER, "-", *names]
    done = subprocess.run(command, capture_output=True, text=True)
    release, *lines = done.stdout.splitlines() or pytest.fail(done.stderr[-2000:])
    models = {}
    for line in lines:
        if line.startswith("{"):
            models[json.loads(line)["name"]] = rows = []
        rows.append(line)
    return release, models


def test_every_configuration_is_recorded_as_it_is():
    configurations, seen = recorder.configurations(), set()
    for recording in recorder.STORED.glob("*.txt.gz"):
        for name, lines in recorder.stored(recording.name.removesuffix(".txt.gz")).items():
            assert json.loads(lines[0])["config"] == configurations[name], f"{recording.name}: record {name} again"
            seen.add(name)
    assert seen == configurations.keys()


def test_a_few_models_are_recorded_again():
    release, again = recorded_again(*FEW)
    assert again == {name: lines for name, lines in recorder.stored(release).items() if name in FEW}


@pytest.mark.slow("tensors of every configuration are still those that transformers makes")
def test_all_models_are_recorded_again():
    release, again = recorded_again()
    assert again == recorder.stored(release)


def test_numbers_of_names_are_folded_by_place():
    rows = [("parameter", f"a.{i}.b.{j}.weight", "2x3", "bfloat16") for i in (0, 1, 2, 4) for j in range(2)]
    rows += [("parameter", "a.3.b.5.weight", "2x3", "bfloat16"), ("buffer", "c", "", "float32")]
    assert list(recorder.folded(rows)) == ["parameter\ta.#.b.#.weight\t2x3\tbfloat16\t0-2,4\t0-1", "parameter\ta.#.b.#.weight\t2x3\tbfloat16\t3\t5", "buffer\tc\t\tfloat32"]
