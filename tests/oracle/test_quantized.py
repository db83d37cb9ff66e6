"""QLoRA and LLM.int8(): what `tidemark predict` says of weights that bitsandbytes has quantized, against the real program on the virtual GPU, byte for byte."""

import json
import subprocess

import pytest
from harness import PROGRAMS, TIDEMARK, report_of, versions_of

GPU = "rtx-4090"
LORA = {"r": 16, "alpha": 32, "dropout": 0.05, "target_modules": "all-linear"}
QLORA = {"quantization": {"quant_type": "nf4", "use_double_quant": True, "compute_dtype": "bf16", "prepare": True}, "lora": LORA, "autocast": "bf16", "checkpointing": "reentrant", "batch": 2, "seq": 1024}
IN_8BIT = {"quantization": {"load_in_8bit": True, "prepare": True}}
# As PEFT's users and TRL's have it; the last is of a family that is known by its captured program alone.
LLAMA = {"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 6, "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000}
TRL = {**QLORA, "quantization": {**QLORA["quantization"], "prepare": False}, "lora": {**LORA, "adapter_dtype": "bf16"}, "checkpointing": "non_reentrant", "loop": "trainer"}
GRANITE = {"model_type": "granite", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 8192, "max_position_embeddings": 2048}
TOWER = {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 3, "num_attention_heads": 16, "image_size": 336, "patch_size": 14, "projection_dim": 768}
LLAVA = {"model_type": "llava", "text_config": {**LLAMA, "hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16}, "vision_config": TOWER, "image_token_index": 31999}
CASES = {
    "llama": {"model": LLAMA, **QLORA},
    "llama_trl": {"model": LLAMA, **TRL},
    "llava": {"model": LLAVA, "images": 1, **QLORA},
    "granite": {"model": GRANITE, **QLORA},
    "granite_trl": {"model": GRANITE, **TRL},
    "llama_8bit": {"model": LLAMA, **QLORA, **IN_8BIT},
    "llama_8bit_kept": {"model": LLAMA, **QLORA, **IN_8BIT, "checkpointing": "non_reentrant"},
    "granite_8bit": {"model": GRANITE, **TRL, "quantization": {"load_in_8bit": True}},
}
TORCH, TRANSFORMERS = versions_of("torch", "transformers").values()


def peaks(report):
    return [(step["peak_allocated_bytes"], step["peak_reserved_bytes"]) for step in report["steps"]]


@pytest.mark.slow("QLoRA and LLM.int8() by loop and family", keep=["llama_trl"])
@pytest.mark.parametrize("name", CASES)
def test_peaks_are_those_of_the_program(name, tmp_path):
    asked, said = tmp_path / "spec.json", tmp_path / "said.json"
    asked.write_text(json.dumps({**CASES[name], "torch": TORCH, "transformers": TRANSFORMERS, "gpu": GPU}))
    done = subprocess.run([TIDEMARK, "predict", "--spec", str(asked), "--json", str(said)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    real, _ = report_of(PROGRAMS / "spec_training.py", json.dumps(CASES[name]), folder=tmp_path, options=("--steps", "1000"), gpu=GPU)
    assert peaks(json.loads(said.read_text())) == peaks(real)[:3]
