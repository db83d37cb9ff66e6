"""Programs of real models, captured once for all tests: they are well formed, hold for sizes that were not asked for, and nobody notices that they were captured."""

import json
import os
import pathlib
import subprocess

import grammar
import pytest

HERE = pathlib.Path(__file__).resolve().parent
MODELS = sorted(path.stem for path in (HERE / "configs").glob("*.json"))
pytestmark = pytest.mark.oracle


@pytest.fixture(scope="session")
def captured(tmp_path_factory):
    """The folder with what capture_all.py wrote."""
    folder = tmp_path_factory.mktemp("captured")
    command = [os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--memory", "1000TB", "--", os.environ["TIDEMARK_PYTHON"], str(HERE / "capture_all.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python")})
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.fixture
def text(captured):
    def of(model):
        error = captured / f"{model}.error"
        assert not error.exists(), error.read_text()[-2000:]
        return (captured / f"{model}.txt").read_text()

    return of


def body(text, name):
    """The lines of a body."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith((f"class {name}(", f"function {name}(")))
    return [line.strip() for line in lines[start + 1 : next((i for i in range(start + 1, len(lines)) if not lines[i]), len(lines))]]


@pytest.mark.parametrize("model", MODELS)
def test_every_line_is_a_statement_and_every_value_has_an_end(text, model):
    program = grammar.read(text(model))
    grammar.check(program)
    assert program.header["model_type"] == [model]
    assert list(program.bodies)[-1] == program.header["class"][0] + "#1"


@pytest.mark.parametrize("model", sorted(set(MODELS) - {"llava", "qwen2_vl"}))
def test_sizes_are_solved(text, model):
    header = grammar.read(text(model)).header
    assert header["points"] == ["4"] and header["unsolved"] == ["0"]


@pytest.mark.parametrize("model", ["llava", "qwen2_vl"])
def test_what_differs_with_the_number_of_images_is_said_and_stays_concrete(text, model):
    header = grammar.read(text(model)).header
    assert header["points"] == ["1"] and "as sizes differ" in header["concrete"][0] or "of something" in header["concrete"][0]


@pytest.mark.parametrize("model", MODELS)
def test_nobody_notices(text, captured, model):
    text(model)
    found = json.loads((captured / f"{model}.neutral").read_text())
    assert len(found["plain"]) > 150 and any(action == "free_requested" for action, _ in found["plain"])
    assert found["plain"] == found["recorded"]
    assert found["grown"] == 0 and len(found["left"]) == (1 if model == "qwen2_vl" else 0)  # Qwen2VLModel keeps rope_deltas


def test_deaths_are_where_python_drops_the_last_name(text):
    mlp = body(text("llama"), "LlamaMLP#1")
    assert [line.partition(" = ")[2].partition("(")[0] or line for line in mlp] == [
        "call gate_proj: Linear#3",
        "call act_fn: SiLUActivation#1",
        "del %0",
        "call up_proj: Linear#3",
        "torch.Tensor.mul",
        "del %1 %2",
        "call down_proj: Linear#4",
        "del %3",
        "return %4",
    ]
    attention = body(text("llama"), "LlamaAttention#1")
    assert "hold %27 %28" in attention  # the cache has them


def test_layers_are_told_once(text):
    model = body(text("llama"), "LlamaModel#1")
    at = model.index("repeat i in 1..3:")
    assert "call layers.{i}: LlamaDecoderLayer#1(0=%9" in model[at + 1]
    assert model[at + 2 : at + 4] == ["del %9", "next %9=%10"]
    assert "      0..3: LlamaDecoderLayer checkpointable" in text("llama").splitlines()


def test_dtypes_follow_the_values_whose_they_are(text):
    assert "%6: T[B, S, 64] = torch.Tensor.to(%5, dtype($0))" in body(text("llama"), "LlamaRMSNorm#1")
    rotary = body(text("llama"), "LlamaRotaryEmbedding#1")
    if any("autocast" in line for line in rotary):  # until transformers 5.17: modeling_llama.py, LlamaRotaryEmbedding
        assert "enter autocast(device=device, dtype=bfloat16, enabled=False)" in rotary and "exit autocast" in rotary
    assert any(line.endswith("torch.Tensor.to(%5, T)") for line in body(text("t5"), "T5LayerNorm#1"))  # done in half precision alone


def test_lengths_that_go_another_way_are_told(text):
    assert grammar.read(text("mistral")).header["holds"] == ["S >= 32"]  # the window: shorter texts need no mask
    assert "holds" not in grammar.read(text("llama")).header


def test_custom_functions_say_what_they_save(text):
    gelu = body(text("bloom"), "GeLUFunction#1")
    assert gelu[-2:] == ["saves $0", gelu[-1]] and gelu[-1].startswith("return ")


def test_ties_flags_and_attributes(text):
    tree = grammar.read(text("t5")).tree
    assert "  shared: nn.Embedding" in tree and any(line.strip() == "param weight = shared.weight" for line in tree)
    assert any(line.strip().startswith("buffer inv_freq: float32[8] transient") for line in grammar.read(text("llama")).tree)
    assert any(line.strip().startswith("param weight: T[64, 64] frozen") for line in grammar.read(text("whisper")).tree)
