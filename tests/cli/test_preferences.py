"""`tidemark predict --loop` with TRL's trainers of preferences: what is answered, assumed and refused."""

import json

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

LLAMA = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1024}
MIXTRAL = {"model_type": "mixtral", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 4, "vocab_size": 1024}
WEIGHTS = 2 * (2 * 1024 * 128 + 128 + 3 * (2 * 128 * 128 + 2 * 128 * 64 + 3 * 128 * 344 + 2 * 128))


@pytest.fixture
def ask(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps(LLAMA))

    def answer(*options):
        batch = [] if "--batch" in options else ["--batch", "2"]
        done = tidemark("predict", "config.json", "--gpu", "h100-80gb", *batch, "--seq", "64", *options, "--json", "r.json")
        return done, json.loads((folders / "work/r.json").read_text()) if done.returncode == 0 else None

    return answer


def parameters(report):
    return next(one["bytes"] for one in report["at_peak"]["by_category"] if one["name"] == "parameters")


def test_reference_is_second_model_without_adapters(ask):
    plain, sft, dpo = (ask("--loop", loop)[1] for loop in ("plain", "sft_trainer", "dpo_trainer"))
    assert parameters(sft) == parameters(plain) and WEIGHTS <= parameters(plain) < 1.1 * WEIGHTS
    assert parameters(dpo) == 2 * parameters(plain)


def test_reference_is_the_model_without_its_adapters(ask):
    lora = ["--lora-r", "8", "--lora-target-modules", "all-linear"]
    sft, dpo = (ask("--loop", loop, *lora)[1] for loop in ("sft_trainer", "dpo_trainer"))
    assert parameters(sft) == parameters(dpo)


def test_report_names_what_a_batch_is(ask):
    done, _ = ask("--loop", "dpo_trainer")
    assert "assumed: a batch is 2 pairs of a chosen and a rejected sample, all of one length" in done.stdout


@pytest.mark.parametrize(
    "options, code, text",
    [
        (["--loop", "dpo_trainer", "--gpus", "2", "--parallel", "ddp"], USAGE, "on one GPU"),
        (["--loop", "dpo_trainer", "--images", "1"], USAGE, "pairs with images"),
        (["--loop", "dpo_trainer", "--checkpointing", "non_reentrant", "--checkpoint-every", "2"], USAGE, "of all layers"),
        (["--loop", "dpo_trainr"], USAGE, "did you mean dpo_trainer?"),
    ],
)
def test_question_without_answer_is_refused(ask, options, code, text):
    refused(ask(*options)[0], code, text)


def test_balanced_experts_are_refused(tidemark, folders):
    (folders / "work/config.json").write_text(json.dumps(MIXTRAL))
    question = ["predict", "config.json", "--gpu", "h100-80gb", "--batch", "2", "--seq", "64"]
    refused(tidemark(*question, "--loop", "dpo_trainer"), UNSUPPORTED, "balance of experts", "tidemark run")
    assert tidemark(*question, "--loop", "sft_trainer").returncode == 0
