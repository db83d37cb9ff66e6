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
    plain, sft, dpo, kto = (ask("--loop", loop)[1] for loop in ("plain", "sft_trainer", "dpo_trainer", "kto_trainer"))
    assert parameters(sft) == parameters(plain) and WEIGHTS <= parameters(plain) < 1.1 * WEIGHTS
    assert parameters(dpo) == parameters(kto) == 2 * parameters(plain)


def test_reference_is_the_model_without_its_adapters(ask):
    lora = ["--lora-r", "8", "--lora-target-modules", "all-linear"]
    sft, dpo, kto = (ask("--loop", loop, *lora)[1] for loop in ("sft_trainer", "dpo_trainer", "kto_trainer"))
    assert parameters(sft) == parameters(dpo) == parameters(kto)


def test_report_names_what_a_batch_is(ask):
    done, _ = ask("--loop", "dpo_trainer")
    assert "assumed: a batch is 2 pairs of a chosen and a rejected sample, all of one length" in done.stdout
    assert "one half" in ask("--loop", "kto_trainer")[0].stdout


def test_reward_model_has_one_score(ask):
    _, report = ask("--loop", "reward_trainer", "--batch", "1")
    head = 2 * 1024 * 128
    assert WEIGHTS - head <= parameters(report) < 1.1 * (WEIGHTS - head)


@pytest.mark.parametrize(
    "options, code, text",
    [
        (["--loop", "kto_trainer", "--batch", "1"], USAGE, "two samples or more"),
        (["--loop", "dpo_trainer", "--gpus", "2", "--parallel", "ddp"], USAGE, "on one GPU"),
        (["--loop", "dpo_trainer", "--images", "1"], USAGE, "pairs with images"),
        (["--loop", "kto_trainer", "--checkpointing", "non_reentrant", "--checkpoint-every", "2"], USAGE, "of all layers"),
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


YAML = """model_name_or_path: model
dtype: bfloat16
max_length: 64
per_device_train_batch_size: 2
gradient_checkpointing: false
optim: adamw_torch
"""
LORA = "use_peft: true\nlora_r: 16\nlora_target_modules: all-linear\n"
AS_LORA = ["--lora-r", "16", "--lora-alpha", "32", "--lora-dropout", "0.05", "--lora-target-modules", "all-linear"]
AS_TRL = ["--autocast", "bf16", "--max-grad-norm", "1", "--load", "device_map"]


@pytest.mark.parametrize(
    "name, text, options",
    [
        ("beta.yaml", YAML + "beta: 0.1\n", ["dpo_trainer"]),
        ("lora.yaml", YAML + LORA + "loss_type: [sigmoid]\nprecompute_ref_log_probs: false\n", ["dpo_trainer", *AS_LORA]),
        ("kto.yaml", YAML + "desirable_weight: 1.0\n", ["kto_trainer"]),
        ("reward.sh", "trl reward --config plain.yaml", ["reward_trainer"]),
        ("dpo.sh", "trl dpo --config plain.yaml", ["dpo_trainer"]),
        ("module.sh", "accelerate launch -m trl.scripts.dpo --config plain.yaml", ["dpo_trainer"]),
        ("script.sh", "python trl/scripts/kto.py --config plain.yaml", ["kto_trainer"]),
        ("negated.sh", "trl dpo --config plain.yaml --no_gradient_checkpointing --no_remove_unused_columns", ["dpo_trainer"]),
    ],
)
def test_files_of_trl(ask, tidemark, folders, name, text, options):
    work = folders / "work"
    (work / "model").mkdir()
    (work / "model/config.json").write_text(json.dumps(LLAMA))
    (work / "plain.yaml").write_text(YAML)
    (work / name).write_text(text)
    done = tidemark("predict", name, "--gpu", "h100-80gb", "--json", "file.json")
    assert done.returncode == 0, done.stderr
    _, asked = ask("--loop", *options, *AS_TRL)
    read = json.loads((work / "file.json").read_text())
    assert (read["steps"], read["sources"]["training"]) == (asked["steps"], f"TRL: {name}")


@pytest.mark.parametrize("key, value", [("precompute_ref_log_probs", "true"), ("loss_type", "ipo"), ("use_weighting", "true"), ("disable_dropout", "false")])
def test_options_of_dpo_that_are_not_predicted(tidemark, folders, key, value):
    (folders / "work/model").mkdir()
    (folders / "work/model/config.json").write_text(json.dumps(LLAMA))
    (folders / "work/dpo.yaml").write_text(f"{YAML}beta: 0.1\n{key}: {value}\n")
    refused(tidemark("predict", "dpo.yaml", "--gpu", "h100-80gb"), UNSUPPORTED, key, "nearest: ")
