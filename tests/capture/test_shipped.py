"""Programs that Tidemark comes with, at other sizes than they were captured at: equal to programs captured at exactly those."""

import os
import pathlib
import re
import subprocess

import pytest

pytestmark = pytest.mark.oracle
ROOT = pathlib.Path(__file__).resolve().parents[2]


# Programs of the release of transformers that each environment has, or of the nearest before it.
NEWEST, BEFORE, OLDER = ("TIDEMARK_PYTHON", "5.24.0"), ("TIDEMARK_PYTHON", "5.23.0"), ("TIDEMARK_PYTHON_211", "5.17.0")
ON_5_23 = "beit blip clip_text_model deberta-v2 falcon mamba2 modernbert qwen2_audio qwen3_5_text resnet ultrabert wavlm whisper xmod"
ON_5_24 = "gpt_oss hy_v3 lfm2_vl llava llava_next paligemma siglip2"


def interpreter(variable):
    if variable not in os.environ:
        pytest.skip(f"{variable} is not set")
    return os.environ[variable]


@pytest.mark.slow("programs of 24 families at other sizes", keep=["newest"])
@pytest.mark.parametrize(
    "python, of, model_types",
    [
        pytest.param("TIDEMARK_PYTHON", "5.23.0", ["clip_text_model", "falcon"], id="newest"),
        pytest.param("TIDEMARK_PYTHON", "5.23.0", ON_5_23.split(), id="5.23"),
        pytest.param("TIDEMARK_PYTHON", "5.24.0", ON_5_24.split(), id="5.24"),
        pytest.param("TIDEMARK_PYTHON_211", "5.17.0", ["arcee", "cohere2", "mbart"], id="5.17"),
    ],
)
def test_shipped_programs_equal_exact_ones(python, of, model_types):
    command = [interpreter(python), ROOT / "tools/capture/compare.py", *model_types, "--of", of]
    done = subprocess.run(command, capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert len(rows) == len(model_types), done.stderr[-2000:]
    assert all("| equal, " in row for row in rows) and done.returncode == 0, rows


# What is dropped in heads that were not captured, and of models that ask for it and do nothing with it.
OF_NO_EFFECT = {"classifier_dropout", "classifier_dropout_rate", "pooler_dropout", "embd_pdrop", "mask_feature_prob", "feat_quantizer_dropout"}  # the last is of pretraining alone


@pytest.mark.slow("conditions of amounts that are 0, in every program of a release")
def test_no_program_holds_for_more_than_was_done_by_no_amount():
    """router_jitter_noise, dropout_rate: a configuration that says another amount goes another way."""
    program = [interpreter("TIDEMARK_PYTHON"), ROOT / "tests/capture/zero_amounts.py", ROOT / "data/programs/5.23.0"]
    done = subprocess.run([os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", *program], capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines() if line.count(" ") == 1]
    assert ["phi3", "embd_pdrop"] in rows, done.stderr[-2000:]  # it was looked for
    of_no_effect = [
        ["blip", "label_smoothing"],
        ["falcon", "attention_dropout"],
        ["nemotron_h", "hidden_dropout"],
    ]  # modeling_blip_text.py: the text's own alone; modeling_falcon.py: with alibi alone; modeling_nemotron_h.py: does not read it
    assert [row for row in rows if row[1] not in OF_NO_EFFECT and row not in of_no_effect] == []


def spellings(python, folder, *options):
    """The rows that tools/capture/spellings.py tells."""
    program = [interpreter(python), ROOT / "tools/capture/spellings.py", folder, *options]
    done = subprocess.run([os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", *program], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.slow("spellings of keys in every program of three releases")
@pytest.mark.parametrize("python, release", [OLDER, BEFORE, NEWEST])
def test_programs_take_every_spelling_of_their_keys(python, release):
    """A file that says n_embed of a Falcon, which its class takes for hidden_size: the default would be taken in its place."""
    assert spellings(python, ROOT / "data/programs" / release) == []


@pytest.mark.parametrize(
    "release, family, key, spelling",
    [
        ("5.23.0", "falcon", "hidden_size", "n_embed"),
        ("5.24.0", "qwen3_vl_moe", "text_config.num_local_experts", "text_config.num_experts"),
    ],
)
def test_a_missing_spelling_is_found_and_written(release, family, key, spelling, tmp_path):
    whole = (ROOT / "data/programs" / release / family).read_text()
    lines = re.findall(rf"^key {re.escape(key)} = .*; also {re.escape(spelling)}$", whole, re.MULTILINE)
    assert lines
    (tmp_path / family).write_text(whole.replace(f"; also {spelling}\n", "\n"))
    assert spellings("TIDEMARK_PYTHON", tmp_path, "--write") == [f"{family} {key} {spelling}"] * len(lines)
    assert (tmp_path / family).read_text() == whole


def unbound(python, folder, *options):
    """The rows that tools/capture/unbound.py prints."""
    program = [interpreter(python), ROOT / "tools/capture/unbound.py", folder, *options]
    done = subprocess.run([os.environ["TIDEMARK_BIN"], "run", "--quiet", "--gpu", "h100-80gb", "--", *program], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "program, lines, rows",
    [
        ("5.24.0/gemma3", r"^(key|holds) text_config\.sliding_window_pattern .*\n", ["gemma3 text_config.sliding_window_pattern true text_config.layer_types"] * 2),
        ("5.23.0/t5", r"^(key|holds) feed_forward_proj .*\n", ['t5 feed_forward_proj "gated-gelu" dense_act_fn is_gated_act']),
        ("5.24.0/lfm2_vl", r"; also text_config\.block_ff_dim$", ["lfm2_vl text_config.block_ff_dim 2 text_config.intermediate_size"]),
    ],
)
def test_a_key_that_is_not_followed_is_found_and_written(program, lines, rows, tmp_path):
    """One that several keys follow is held at its default; one that is another's value becomes its spelling."""
    whole, family = (ROOT / "data/programs" / program).read_text(), pathlib.Path(program).name
    without = re.sub(lines, "", whole, flags=re.MULTILINE)
    assert without != whole
    (tmp_path / family).write_text(without)
    assert unbound("TIDEMARK_PYTHON", tmp_path, "--write") == rows
    assert (tmp_path / family).read_text() == whole


@pytest.mark.slow("keys that classes read and no program follows, in every program of a release")
@pytest.mark.parametrize("python, release", [NEWEST])
def test_a_key_that_is_read_is_followed_or_changes_nothing(python, release):
    assert unbound(python, ROOT / "data/programs" / release) == []
