"""Settings that trainers' files share: what is taken for the same, launch scripts and their environment, refusals that name all
keys at once."""

import json

import pytest
from test_errors import USAGE, refused
from test_trainer_configs import FILES, LLAMA, LLAMAFACTORY, SWIFT, TRL, UNSUPPORTED, ZERO2, assumed, changed, fill, predicting, steps


@pytest.fixture
def work(folders):
    return fill(folders / "work")


@pytest.fixture
def predicted(tidemark, work):
    return predicting(tidemark, work)


# name of the file, keys that change no byte of what is predicted
EQUIVALENT = [
    ("llamafactory.yaml", {"flash_attn": "fa2"}),
    ("llamafactory.yaml", {"flash_attn": "fa3"}),
    ("llamafactory.yaml", {"flash_attn": "fa2", "neat_packing": "true"}),
    ("llamafactory.yaml", {"packing": "true"}),
    ("llamafactory.yaml", {"loraplus_lr_ratio": 16.0, "use_rslora": "true", "rope_scaling": "linear"}),
    ("axolotl.yml", {"attn_implementation": "flash_attention_2", "sample_packing": "true"}),
    ("axolotl.yml", {"loraplus_lr_ratio": 16, "peft_use_rslora": "true"}),
    ("trl.yaml", {"attn_implementation": "flash_attention_3", "padding_free": "true"}),
    ("trl.yaml", {"attn_implementation": "kernels-community/flash-attn2", "packing": "true"}),
    ("trl.yaml", {"use_rslora": "true"}),
]


@pytest.mark.parametrize("name, keys", EQUIVALENT)
def test_equivalent_settings_change_no_byte(predicted, work, name, keys):
    text = FILES[name][0]
    for key, value in keys.items():
        text = changed(text, key, value)
    (work / name).write_text(text)
    report = predicted(name)
    assert steps(report) == steps(predicted(*FILES[name][1])) and "keys that are not read" not in assumed(report)
    assert ("SDPA's flash kernel" in assumed(report)) == any("fl" in str(value) or value == "fa3" or value == "fa2" for value in keys.values())


def test_flash_attention_with_a_window_is_refused(tidemark, predicted, work):
    """SDPA has a mask for a window that is shorter than the samples, and FlashAttention has none."""
    (work / "trl.yaml").write_text(TRL + "attn_implementation: flash_attention_2\n")
    (work / "model" / "config.json").write_text(json.dumps({**LLAMA, "model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 128}))
    refused(tidemark("predict", "trl.yaml", "--gpu", "h100-80gb"), UNSUPPORTED, "attn_implementation", "nearest: sdpa, which takes more")
    (work / "model" / "config.json").write_text(json.dumps({**LLAMA, "model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 1024}))
    assert "SDPA's flash kernel" in assumed(predicted("trl.yaml"))


def test_upcast_norms_change_nothing_under_deepspeed(tidemark, predicted, work):
    (work / "z2.json").write_text(json.dumps(ZERO2))
    text = LLAMAFACTORY + "deepspeed: z2.json\n"
    (work / "llamafactory.yaml").write_text(text)
    plain = steps(predicted("llamafactory.yaml", "--gpus", 2))
    (work / "llamafactory.yaml").write_text(text + "upcast_layernorm: true\n")
    assert steps(predicted("llamafactory.yaml", "--gpus", 2)) == plain
    (work / "llamafactory.yaml").write_text(LLAMAFACTORY + "upcast_layernorm: true\n")
    refused(tidemark("predict", "llamafactory.yaml", "--gpu", "h100-80gb"), UNSUPPORTED, "upcast_layernorm", "nearest: false, which takes less")


SEVERAL = {"optim": "adamw_torch_8bit", "enable_liger_kernel": "true", "upcast_lmhead_output": "true"}


def test_all_refused_keys_are_named_at_once(tidemark, predicted, work):
    text = LLAMAFACTORY
    for key, value in SEVERAL.items():
        text = changed(text, key, value)
    (work / "llamafactory.yaml").write_text(text)
    done = tidemark("predict", "llamafactory.yaml", "--gpu", "h100-80gb")
    refused(done, UNSUPPORTED, "3 keys are not predicted", "nearest: adamw_torch, which takes more", "nearest: false, which takes less", "--nearest", *SEVERAL)
    assert len(done.stderr.splitlines()) == 5
    report = predicted("llamafactory.yaml", "--nearest")
    assert assumed(report).count("; taken: ") == 3
    (work / "llamafactory.yaml").write_text(changed(LLAMAFACTORY, "optim", "adamw_torch"))
    assert steps(report) == steps(predicted("llamafactory.yaml"))


def test_dora_is_read(tidemark, predicted, work):
    (work / "llamafactory.yaml").write_text(changed(LLAMAFACTORY, "use_dora", "true"))
    report = predicted("llamafactory.yaml")
    assert report["training"]["options"]["lora"]["use_dora"] is True
    (work / "llamafactory.yaml").write_text(LLAMAFACTORY)
    assert report["peak"]["allocated_bytes"] > predicted("llamafactory.yaml")["peak"]["allocated_bytes"]
    (work / "llamafactory.yaml").write_text(changed(changed(LLAMAFACTORY, "use_dora", "true"), "quantization_bit", "8"))
    refused(tidemark("predict", "llamafactory.yaml", "--gpu", "h100-80gb"), UNSUPPORTED, "use_dora", "nearest: false, which takes less")


def test_nearest_does_not_replace_another_method(tidemark, work):
    (work / "llamafactory.yaml").write_text(changed(changed(LLAMAFACTORY, "stage", "ppo"), "upcast_lmhead_output", "true"))
    refused(tidemark("predict", "llamafactory.yaml", "--gpu", "h100-80gb", "--nearest"), UNSUPPORTED, "stage")


def with_environment(*lines):
    return SWIFT.replace("CUDA_VISIBLE_DEVICES=0 \\\n", "".join(f"{line} \\\n" for line in lines))


@pytest.mark.parametrize("name", ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"])
@pytest.mark.parametrize("form", ["{0}='expandable_segments:True' \\\n", "export {0}=expandable_segments:True\n"])
def test_allocator_settings_of_a_script_are_read(predicted, work, name, form):
    (work / "swift.sh").write_text(form.format(name) + SWIFT.split("\n", 1)[1])
    report = predicted("swift.sh")
    assert steps(report) == steps(predicted(*FILES["swift.sh"][1], "--allocator", "expandable_segments:True"))


def test_variables_that_are_not_read_are_named(predicted, work):
    (work / "swift.sh").write_text(with_environment("WANDB_MODE=offline", "FPS_MAX_FRAMES=12", "CUDA_VISIBLE_DEVICES=0"))
    report = predicted("swift.sh")
    assert "variables of the environment that are not read: FPS_MAX_FRAMES" in assumed(report) and "WANDB" not in assumed(report)


PROCESSES = [
    (with_environment("NPROC_PER_NODE=2", "CUDA_VISIBLE_DEVICES=0,1"), "swift.sh", 2),
    ("n=2\n" + with_environment("NPROC_PER_NODE=$n"), "swift.sh", 2),
    ("export CUDA_VISIBLE_DEVICES=0,1\nllamafactory-cli train llamafactory.yaml\n", "lf.sh", 2),
    ("torchrun --nproc_per_node=$(expr 8 / 2) train.py args.json --model_name_or_path model --block_size 512\n", "run.sh", 4),
    ("accelerate launch --num_processes 2 -m trl.scripts.sft --config trl.yaml\n", "trl.sh", 2),
]


@pytest.mark.parametrize("text, name, gpus", PROCESSES)
def test_processes_of_a_launch_are_read(predicted, work, text, name, gpus):
    (work / name).write_text(text)
    report = predicted(name)
    assert steps(report) == steps(predicted(name, "--gpus", gpus)) != steps(predicted(name, "--gpus", 1))
    assert "on how many GPUs" not in assumed(report)


def test_one_process_on_several_gpus_is_refused(tidemark, work):
    (work / "swift.sh").write_text(with_environment("CUDA_VISIBLE_DEVICES=0,1"))
    refused(tidemark("predict", "swift.sh", "--gpu", "h100-80gb"), UNSUPPORTED, "CUDA_VISIBLE_DEVICES", "nearest: ")


@pytest.mark.parametrize("name", FILES)
def test_length_that_an_option_gives_is_stated(predicted, name):
    report = predicted(name, "--seq", 384)
    assert "every sample has 384 tokens (--seq)" in assumed(report) and ", 512" not in assumed(report)


UNKNOWN = [
    ("some.yaml", "model: m\nkernel_config: {name: liger_kernel}\nlearning: 3\n", UNSUPPORTED, ["finetuning_type", "(LLaMA-Factory)", "base_model"]),
    ("acc.yaml", "distributed_type: FSDP\nnum_processes: 2\n", UNSUPPORTED, ["accelerate's file", "--accelerate"]),
    ("ds.json", '{"zero_optimization": {"stage": 2}}', UNSUPPORTED, ["DeepSpeed's file", "--deepspeed"]),
    ("args.yaml", "max_length: 512\nper_device_train_batch_size: 1\nbf16: true\nattn_implementation: sdpa\n", USAGE, ["it names no model", "--trainer"]),
]


@pytest.mark.parametrize("name, text, code, words", UNKNOWN)
def test_unrecognised_file_names_what_would_tell(tidemark, work, name, text, code, words):
    (work / name).write_text(text)
    refused(tidemark("predict", name, "--gpu", "h100-80gb"), code, name, *words)


def test_model_key_tells_trainers_apart(predicted, work):
    (work / "args.yaml").write_text("model_name_or_path: model\nmax_length: 512\nper_device_train_batch_size: 1\nbf16: true\n")
    assert predicted("args.yaml")["sources"]["training"] == "TRL: args.yaml"


def test_accelerate_goes_with_a_trainer(tidemark, work):
    refused(tidemark("predict", "model", "--accelerate", "x.yaml", "--gpu", "h100-80gb"), USAGE, "--accelerate", "--trainer")


def test_unknown_keys_are_listed_once(predicted, work):
    (work / "trl.yaml").write_text(TRL + "some_new_key: 3\nother_key: [1]\n")
    assert assumed(predicted("trl.yaml")).count("keys that are not read: some_new_key, other_key") == 1
