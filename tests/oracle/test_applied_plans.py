"""`tidemark plan --checkpointing-under`, applied to the real model by tidemark.apply: its peak under `tidemark run` is the plan's, to the byte."""

import json
import subprocess

import pytest
from harness import PROGRAMS, TIDEMARK, report_of, versions_of

GPU = "a100-80gb"
LLAMA = {"model": {"model_type": "llama", "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1024}, "batch": 8, "seq": 512, "optimizer": "sgd"}
GPT2 = {"model": {"model_type": "gpt2", "n_embd": 256, "n_layer": 4, "n_head": 4, "vocab_size": 1024}, "batch": 4, "seq": 256}
LLAVA = {
    "model": {
        "model_type": "llava",
        "text_config": LLAMA["model"],
        "image_token_index": 1000,
        "vision_config": {"model_type": "clip_vision_model", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 56, "patch_size": 14, "projection_dim": 64},
    },
    "images": 1,
    "batch": 2,
    "seq": 512,
    "optimizer": "sgd",
}
LORA = {"r": 8, "alpha": 16, "target_modules": "all-linear"}
# name: what is trained, and how much of what checkpointing spares the budget has
CASES = {"llama": (LLAMA, 0.3), "llama_roomy": (LLAMA, 0.8), "llama_lora": ({**LLAMA, "lora": LORA}, 0.6), "llama_reentrant": ({**LLAMA, "checkpointing": "reentrant"}, 0.5), "gpt2": (GPT2, 0.4), "llava": (LLAVA, 0.5)}
TORCH, TRANSFORMERS = versions_of("torch", "transformers").values()


def answer(folder, spec, *options):
    """What a command of Tidemark says of the spec, as JSON."""
    asked, said = folder / "spec.json", folder / "said.json"
    asked.write_text(json.dumps({**spec, "torch": TORCH, "transformers": TRANSFORMERS, "gpu": GPU}))
    done = subprocess.run([TIDEMARK, options[0], "--spec", str(asked), "--json", str(said), *options[1:]], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(said.read_text())


@pytest.mark.slow("plans of every kind of model and of LoRA, applied", keep=["llama_lora"])
@pytest.mark.parametrize("name", CASES)
def test_the_peak_is_the_plans(name, tmp_path):
    spec, share = CASES[name]
    kind = spec.get("checkpointing", "non_reentrant")
    high, low = (answer(tmp_path, {**spec, "checkpointing": how}, "predict")["peak"]["device_bytes"] for how in ("none", kind))
    budget = int(low + share * (high - low))
    plan = answer(tmp_path, spec, "plan", "--checkpointing-under", f"{budget}B")
    peak = plan["answers"][0]["peak"]
    assert peak["device_bytes"] <= budget
    assert plan["checkpointing"]["flops_again"] < 0.34 * plan["checkpointing"]["pass_flops"]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    program = {**spec, "checkpointing": "none"}
    report, _ = report_of(PROGRAMS / "applied_plan.py", json.dumps(program), path, folder=tmp_path, options=("--steps", "1000"), gpu=GPU)
    assert {key: report["peak"][key] for key in ("allocated_bytes", "reserved_bytes")} == {key: peak[key] for key in ("allocated_bytes", "reserved_bytes")}


def spec(**fields):
    return {"checkpointing": "non_reentrant", **fields}


def outcomes(plans, folder):
    """Of applied_to_modules.py: the first is that of no plan."""
    _, printed = report_of(PROGRAMS / "applied_to_modules.py", json.dumps([None, *plans]), folder=folder)
    line = next(line for line in printed.splitlines() if line.startswith("outcomes "))
    return json.loads(line.removeprefix("outcomes "))


def test_any_module_has_the_same_gradients_and_keeps_less(tmp_path):
    keeping = [spec(checkpoint_save=["addmm"]), spec(checkpoint_save=["addmm", "gelu"], checkpoint_save_layers=["2-3"])]
    plans = [spec(), spec(checkpoint_layers=["0-1", "3"]), spec(checkpoint_every=2), {"checkpointing": "reentrant"}, *keeping]
    usual, *found = outcomes(plans, tmp_path)
    assert all(one["gradients"] == usual["gradients"] for one in found)
    assert all(one["kept"] < usual["kept"] for one in found)
    assert usual["products"] == found[4]["products"] < found[5]["products"] < found[0]["products"]
    assert found[1]["changed"] == [True, True, False, True] and found[2]["changed"] == [True, False, True, False]


@pytest.mark.slow("plans read from a file, layers listed")
def test_a_plan_may_be_a_file_and_layers_may_be_listed(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"schema": "tidemark.plan/1", "answers": [{"spec": spec(checkpoint_layers=["1"])}]}))
    _, of_file, listed = outcomes([str(path), spec(checkpoint_layers=["1"], listed=[3, 2])], tmp_path)
    assert of_file["changed"] == [False, True, False, False]
    assert listed["changed"] == [False, False, True, False]


def test_what_is_wrong_in_a_plan_is_said(tmp_path):
    wrong = {
        "checkpoint_layers: the model has no layer 4; there are 4, counted from 0": spec(checkpoint_layers=["2-4"]),
        "has no operator aten::addm": spec(checkpoint_save=["addm"]),
        "non-reentrant checkpoints alone": {"checkpointing": "reentrant", "checkpoint_save": ["mm"]},
        "'often' is not one of none, non_reentrant, reentrant": {"checkpointing": "often"},
        "it says nothing of checkpointing": {"batch": 3},
        "the plan has no answer": {"schema": "tidemark.plan/1", "answers": []},
    }
    for says, found in zip(wrong, outcomes(list(wrong.values()), tmp_path)[1:]):
        assert says in found["error"]
