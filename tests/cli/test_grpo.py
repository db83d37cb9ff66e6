"""`tidemark predict --loop grpo_trainer`: what is answered, assumed and refused."""

import json

import pytest
from test_errors import UNSUPPORTED, USAGE, refused

LLAMA = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1024}
GIB = 1 << 30


@pytest.fixture
def ask(tidemark, folders):
    (folders / "work/model").mkdir()
    (folders / "work/model/config.json").write_text(json.dumps(LLAMA))

    def answer(*words):
        done = tidemark("predict", *words, "--gpu", "h100-80gb", "--json", "r.json")
        return done, json.loads((folders / "work/r.json").read_text()) if done.returncode == 0 else None

    return answer


def step(*options):
    usual = {"--loop": "grpo_trainer", "--batch": "4", "--seq": "96"}
    return ["model", *(word for name, value in usual.items() if name not in options for word in (name, value)), *options]


def parameters(report):
    return next(one["bytes"] for one in report["at_peak"]["by_category"] if one["name"] == "parameters")


def test_reference_is_there_with_beta_alone(ask):
    plain, kl, lora = (ask(*step(*more))[1] for more in ([], ["--beta", "0.04"], ["--beta", "0.04", "--lora"]))
    assert parameters(kl) == 2 * parameters(plain)
    assert parameters(lora) < 1.2 * parameters(plain)


def test_report_says_what_a_sample_is(ask):
    done, _ = ask(*step("--grad-accumulation", "3"))
    assert "assumed: a sample has a prompt of 48 tokens and a completion of 48, 6 of each prompt" in done.stdout
    assert "completions come from elsewhere" in done.stdout


def test_words_of_the_trainer_are_understood(ask):
    own = ask(*step("--grpo-max-completion-length", "32", "--grpo-num-generations", "2", "--grpo-use-vllm", "--grpo-loss-type", "dr_grpo"))[1]
    words = ask(*step("--max_completion_length", "32", "--num_generations=2", "--use_vllm", "--loss_type", "dr_grpo"))[1]
    assert own["steps"] == words["steps"]


def test_colocated_vllm_takes_its_share(ask):
    alone, beside = (ask(*step("--use_vllm", *more))[1] for more in ([], ["--vllm_gpu_memory_utilization", "0.5"]))
    share = beside["card"]["total_bytes"] // 2
    assert beside["steps"] == alone["steps"]
    assert abs(beside["peak"]["device_bytes"] - alone["peak"]["device_bytes"] - share) <= 1


def test_training_beside_a_colocated_vllm_can_be_too_much(ask):
    options = step("--seq", "2048", "--batch", "64", "--memory", "8GiB")
    assert ask(*options, "--use_vllm")[0].returncode == 0
    assert ask(*options, "--use_vllm", "--vllm_gpu_memory_utilization", "0.9")[0].returncode == 1


@pytest.mark.parametrize(
    "options, text",
    [
        (["--batch", "1"], "compares two completions of a prompt or more"),
        (["--num_generations", "3"], "set it to 4, or leave it out"),
        (["--max_completion_length", "96"], "leaves no prompt"),
        (["--gpus", "2", "--parallel", "ddp"], "on one GPU"),
        (["--images", "1"], "prompts with images"),
        (["--vllm_gpu_memory_utilization", "0.3"], "set grpo.use_vllm"),
        (["--loop", "trainer", "--beta", "0.1"], "set loop to grpo_trainer"),
        (["--loss_type", "vespo"], "dr_grpo"),
    ],
)
def test_question_without_answer_is_refused(ask, options, text):
    refused(ask(*step(*options))[0], USAGE, text)


YAML = """model_name_or_path: model
dtype: bfloat16
max_completion_length: 32
max_prompt_length: 64
per_device_train_batch_size: 4
num_generations: 4
gradient_checkpointing: false
optim: adamw_torch
"""
AS_TRL = ["--max_completion_length", "32", "--num_generations", "4", "--autocast", "bf16", "--max-grad-norm", "1", "--load", "device_map"]


@pytest.mark.parametrize(
    "name, text, options",
    [
        ("plain.yaml", YAML, []),
        ("beta.yaml", YAML + "beta: 0.04\nloss_type: grpo\nimportance_sampling_level: sequence\n", ["--beta", "0.04", "--loss_type", "grpo", "--grpo-importance-sampling-level", "sequence"]),
        ("colocated.yaml", YAML + "use_vllm: true\n", ["--use_vllm", "--vllm_gpu_memory_utilization", "0.3"]),
        ("server.yaml", YAML + "use_vllm: true\nvllm_mode: server\n", ["--use_vllm"]),
        ("command.sh", "trl grpo --config plain.yaml --temperature 0.9", []),
    ],
)
def test_files_of_trl(ask, folders, name, text, options):
    (folders / "work/plain.yaml").write_text(YAML)
    (folders / "work" / name).write_text(text)
    done, read = ask(name)
    assert done.returncode == 0, done.stderr
    asked = ask(*step(*AS_TRL, *options))[1]
    assert (read["steps"], read["peak"], read["sources"]["training"]) == (asked["steps"], asked["peak"], f"TRL: {name}")


@pytest.mark.parametrize("key, value", [("num_iterations", "2"), ("loss_type", "vespo"), ("num_generations", "3"), ("sync_ref_model", "true")])
def test_options_of_grpo_that_are_not_predicted(ask, folders, key, value):
    lines = [line for line in YAML.splitlines() if not line.startswith(f"{key}:")]
    (folders / "work/grpo.yaml").write_text("\n".join([*lines, f"{key}: {value}", ""]))
    refused(ask("grpo.yaml")[0], UNSUPPORTED, key, "nearest: ")
