"""How long samples are: `--audio-seconds` and `--target-seq`."""

import json
from pathlib import Path

import pytest

MODELS = Path(__file__).resolve().parents[2] / "data" / "models"
NO_PYTHON = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
WAV2VEC2 = {"model_type": "wav2vec2", "num_hidden_layers": 2}
WHISPER = {"model_type": "whisper", "encoder_layers": 2, "decoder_layers": 2}
BART = {"model_type": "bart", "encoder_layers": 2, "decoder_layers": 2}
GRANITE = {"model_type": "granite", "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 500}


@pytest.fixture
def predicted(tidemark, folders):
    """predicted(config, *options) -> the report, or the process that refused."""

    def run(config, *options):
        (folders / "work" / "config.json").write_text(json.dumps(config))
        done = tidemark("predict", "config.json", "--batch", 2, "--gpu", "h200", *options, "--json", "report.json", **NO_PYTHON)
        return json.loads((folders / "work" / "report.json").read_text()) if done.returncode in (0, 1) else done

    return run


def assumed(report, text):
    return [row for row in report["assumptions"] if text in row["what"]]


def test_audio_seconds_are_samples_at_16_khz(predicted):
    seconds, samples = predicted(WAV2VEC2, "--audio-seconds", 5), predicted(WAV2VEC2, "--seq", 80000)
    assert seconds["steps"] == samples["steps"]
    assert assumed(seconds, "5 s of audio are sampled at 16000 Hz") and not assumed(samples, "of audio")


def test_raw_audio_is_ten_seconds_by_default(predicted):
    unsaid, ten = predicted(WAV2VEC2), predicted(WAV2VEC2, "--audio-seconds", 10)
    assert unsaid["steps"] == ten["steps"]
    (row,) = assumed(unsaid, "a sample is 10 s of audio, 160000 samples at 16000 Hz, as --audio-seconds is missing")
    assert row and not assumed(unsaid, "--seq is missing")


def test_bundled_wavlm_answers_without_options(tidemark):
    done = tidemark("predict", MODELS / "wavlm-base-plus.json", "--gpu", "h200", **NO_PYTHON)
    assert done.returncode == 0 and "10 s of audio" in done.stdout, done.stderr


def test_unknown_duration_names_the_known_ones(predicted):
    refused = predicted(WAV2VEC2, "--audio-seconds", 7)
    assert refused.returncode == 3 and "cuDNN's scratch memory is not known" in refused.stderr
    assert "the tables have 5, " in refused.stderr and "10, 15, 20, 30 s of audio at 16 kHz" in refused.stderr, refused.stderr


@pytest.mark.parametrize(
    "config, options, why",
    [
        (WAV2VEC2, ["--seq", 80000, "--audio-seconds", 5], "both give the length"),
        (WAV2VEC2, ["--audio-seconds", -1], "--audio-seconds: expected a number between 0 and 1000"),
        (GRANITE, ["--audio-seconds", 5], "granite takes no audio of a chosen duration"),
        (WHISPER, ["--audio-seconds", 31], "more than a window of 30 s"),
        (WHISPER, ["--seq", 100, "--target-seq", 101], "both give the length"),
    ],
)
def test_length_that_does_not_apply_is_refused(predicted, config, options, why):
    refused = predicted(config, *options)
    assert refused.returncode == 2 and why in refused.stderr, refused.stderr


def test_audio_within_a_window_changes_nothing(predicted):
    whole, part = predicted(WHISPER, "--seq", 100), predicted(WHISPER, "--seq", 100, "--audio-seconds", 12)
    assert whole["steps"] == part["steps"]
    assert assumed(part, "12 s of audio are padded to a window of 30 s")


def test_target_of_whisper_is_its_seq(predicted):
    assert predicted(WHISPER, "--target-seq", 100)["steps"] == predicted(WHISPER, "--seq", 100)["steps"]


def test_target_is_as_long_as_its_source_by_default(predicted):
    unsaid, said, short = (predicted(BART, "--seq", 96, *more) for more in ([], ["--target-seq", 96], ["--target-seq", 24]))
    assert unsaid["steps"] == said["steps"] != short["steps"]
    (row,) = assumed(unsaid, "a label has as many tokens as its source, 96, as --target-seq is missing")
    assert row and not assumed(said, "--target-seq")
    assert short["peak"]["allocated_bytes"] <= said["peak"]["allocated_bytes"]


def test_target_of_a_decoder_alone_is_refused(predicted):
    refused = predicted(GRANITE, "--seq", 96, "--target-seq", 24)
    assert refused.returncode == 3 and "the program of granite has no separate target length" in refused.stderr


def test_spec_file_has_both_lengths(tidemark, folders):
    spec = {"model": BART, "batch": 2, "seq": 96, "target_seq": 24, "gpu": "h200"}
    (folders / "work" / "bart.json").write_text(json.dumps(spec))
    (folders / "work" / "audio.json").write_text(json.dumps({"model": WAV2VEC2, "audio_seconds": 5, "gpu": "h200"}))
    for name in ("bart", "audio"):
        done = tidemark("predict", "--spec", f"{name}.json", "--quiet", **NO_PYTHON)
        assert done.returncode == 0, done.stderr
