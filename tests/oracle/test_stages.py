"""Stages of TRL's GRPOTrainer: those of `tidemark run` and those of `tidemark predict` are the same."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import record_steps
record_steps.train(json.loads(sys.argv[2]))
"""
MODEL = {"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1024}
SPEC = {"model": MODEL, "batch": 4, "seq": 96, "loop": "grpo_trainer", "autocast": "bf16", "lora": {"r": 8, "alpha": 16, "dropout": 0, "target_modules": "all-linear"}}
GROUPS = {"max_completion_length": 32, "num_generations": 4, "beta": 0.04, "use_vllm": True}


@pytest.mark.slow("stages that a trainer names are those of a prediction, to the byte")
def test_stages_of_run_are_those_of_predict(tmp_path):
    tidemark, python = os.environ["TIDEMARK"], os.environ.get("TIDEMARK_PYTHON") or pytest.skip("TIDEMARK_PYTHON is not set")
    spec = {**SPEC, "grpo": GROUPS}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    common = ["--gpu", "h100-80gb", "--quiet", "--json"]
    ran = subprocess.run([tidemark, "run", *common, "run.json", "--", python, "-c", PROGRAM, str(ROOT / "tools/trace"), json.dumps(spec)], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    environment = {**os.environ, "PATH": f"{pathlib.Path(python).parent}:{os.environ['PATH']}"}
    asked = subprocess.run([tidemark, "predict", *common, "predict.json", "--spec", "spec.json"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    real, ours = (json.loads((tmp_path / name).read_text())["stages"] for name in ("run.json", "predict.json"))
    assert [stage["name"] for stage in ours] == ["policy log-probabilities", "reference log-probabilities", "rewards", "loss"]
    assert [stage for stage in real if stage["name"] not in ("rollout", "weight sync")] == ours
