"""Options by the names that trainers give them, on the command line of `tidemark predict`."""

import json
import re

import pytest
from test_errors import USAGE, refused
from test_preferences import LLAMA

WORDS = {
    "--max_seq_length 64": "--seq 64",
    "--max-length=64": "--seq 64",
    "--cutoff-len 64": "--seq 64",
    "--per_device_train_batch_size 2": "--batch 2",
    "--batch-size=2": "--batch 2",
    "--gradient_accumulation_steps 2": "--grad-accumulation 2",
    "--gradient-checkpointing": "--checkpointing non_reentrant",
    "--gradient_checkpointing True --bf16 true": "--checkpointing non_reentrant --autocast bf16",
    "--gradient_checkpointing false": "",
    "--use_peft --lora_rank 4": "--lora --lora-r 4",
    "--lora --load_in_4bit": "--lora --quantization-quant-type nf4 --quantization-compute-dtype bf16",
    "--lora --load-in-8bit": "--lora --quantization-load-in-8bit",
    "--lora_r 4 --use_dora": "--lora-r 4 --lora-use-dora",
    "--lora_target q_proj": "--lora-target-modules q_proj",
}


@pytest.fixture
def steps(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps(LLAMA))

    def ask(words, model=("config.json",)):
        done = tidemark("predict", *model, *words.split(), "--gpu", "h100-80gb", "--json", "r.json")
        assert done.returncode == 0, done.stderr
        return json.loads((folders / "work/r.json").read_text())["steps"]

    return ask


@pytest.mark.parametrize("words", WORDS)
def test_word_of_a_trainer_means_an_option(steps, words):
    assert steps(words) == steps(WORDS[words])


@pytest.mark.parametrize("name", ["--model", "--model_name_or_path", "--model-id"])
def test_model_by_an_option(steps, name):
    assert steps("--seq 64", (name, "config.json")) == steps("--seq 64")


def test_words_are_no_options_of_ours(tidemark):
    ours = set(re.findall(r"(?<!\w)--[a-z0-9-]+", tidemark("predict", "--help").stdout))
    assert not ours & {word.replace("_", "-").split("=")[0] for words in WORDS for word in words.split()[:1]} - {"--lora", "--lora-r"}


def test_word_that_nobody_has(tidemark, steps):
    refused(tidemark("predict", "config.json", "--max_seq_lenth", "4", "--gpu", "h100-80gb"), USAGE, "--max-seq-lenth")
