"""A few families whose programs are proved, live: docs/proved-models.md has them all."""

import subprocess

import pytest
from harness import PYTHON, ROOT, TIDEMARK


@pytest.mark.parametrize(
    "mode, model_types",
    [
        ("full", ["granite", "gpt_oss", "llava_next"]),
        pytest.param(
            "full",
            ["qwen2_vl", "idefics3", "mistral3", "t5", "qwen3_next", "deberta-v2", "resnet", "pegasus_x", "gemma4", "glm4v", "mllama", "qwen3_5", "qwen2_audio", "siglip2", "voxtral", "t5gemma", "blip"],
            marks=pytest.mark.slow("programs of 17 more families, trained"),
        ),
        ("checkpointed", ["olmo3"]),
        ("lora", ["falcon"]),
        pytest.param("lora", ["siglip", "deepseek_v3"], marks=pytest.mark.slow("LoRA of a vision and of an expert model")),
    ],
)
def test_a_program_is_trained_as_the_model_is(mode, model_types, tmp_path):
    command = [PYTHON, str(ROOT / "tools" / "capture" / "prove.py"), "--tidemark", TIDEMARK, "--out", str(tmp_path), *model_types, "--modes", mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow("text alone with six more families that take images", keep=["text-llava"])
@pytest.mark.parametrize(
    "mode, model_types",
    [pytest.param("text", ["llava"], id="text-llava"), pytest.param("text_lora", ["gemma3", "internvl", "mistral3", "mllama", "qwen2_5_vl", "qwen3_vl"], id="text_lora")],
)
def test_a_model_with_images_trains_on_text(mode, model_types, tmp_path):
    command = [PYTHON, str(ROOT / "tools/capture/prove.py"), "--tidemark", TIDEMARK, "--out", str(tmp_path), "--shipped", *model_types, "--modes", mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow("encoder-decoder models whose labels have another length than their source", keep=["target-bart"])
@pytest.mark.parametrize(
    "mode, model_types",
    [pytest.param("target", ["bart"], id="target-bart"), pytest.param("target", ["t5", "mbart"], id="target"), pytest.param("target_checkpointed", ["t5", "bart"], id="target_checkpointed")],
)
def test_labels_of_another_length_are_trained_on(mode, model_types, tmp_path):
    command = [PYTHON, str(ROOT / "tools/capture/prove.py"), "--tidemark", TIDEMARK, "--out", str(tmp_path), "--shipped", *model_types, "--modes", mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
