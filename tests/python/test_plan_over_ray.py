"""tidemark.plan(..., ray=True): the answers of one machine, on a Ray cluster of two nodes that is started here."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import tidemark
from tidemark import errors, sharing

ROOT = Path(__file__).resolve().parents[2]
RAY = os.environ.get("TIDEMARK_INTEGRATIONS", str(ROOT / ".venv-integrations/bin/python"))  # tools/requirements/integrations.txt
LLAMA = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 4096}
ASKED = {"batch": 8, "seq": 256, "gpu": "l4x2", "torch": "2.15.0", "transformers": "5.23.0", "fix": ["attention", "bucket_view", "optimizer_impl", "allocator", "pipeline", "tensor_parallel"]}
QUESTIONS = {
    "fastest": {"memory": "900MiB"},
    "five_of_least_memory": {"goal": "least_memory", "answers": 5},
    "smallest_change": {"goal": "smallest_change", "memory": "750MiB"},
    "cheapest": {"cheapest": {"l4": 1.0, "l4x2": 0.9}},
    "pareto": {"goal": "pareto"},
    "nothing_fits": {"memory": "600MiB"},
    "one_family": {"gpu": "l4", "fix": ["attention", "checkpointing", "optimizer_impl", "allocator"]},
}
PROGRAM = """
import json, sys
import ray
from ray.cluster_utils import Cluster
import tidemark
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1)
ray.init(address=cluster.address)
config, asked, questions = json.load(sys.stdin)
for name, more in questions.items():
    plan = tidemark.plan(config, ray=True, **{**asked, **more})
    print("PLAN", name, json.dumps([plan.to_json(), str(plan)]), flush=True)
try:
    tidemark.plan(config, ray=True, **{**asked, "lora": {"target_modules": ["nothing_like_this"]}})
except tidemark.Error as error:
    print("PLAN", "error", json.dumps([error.code, str(error)]), flush=True)
import os, pathlib, subprocess, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "config.json").write_text(json.dumps(config))
(folder / "prices.json").write_text(json.dumps({"l4": 1.0}))
words = [os.environ["TIDEMARK_BIN"], "plan", folder / "config.json", "--batch", "8", "--seq", "256", "--fix", ",".join(asked["fix"])]
environment = {**os.environ, "RAY_ADDRESS": cluster.address, "VIRTUAL_ENV": sys.prefix}
commands = {"fastest": ["--gpu", "l4x2", "--memory", "900MiB"], "nothing_fits": ["--gpu", "l4x2", "--memory", "600MiB"], "cheapest": ["--cheapest", "l4,l4x2", "--prices", folder / "prices.json"], "wrong": ["--gpu", "l4x2", "--lora-target-modules", "nothing_like_this"]}
told = {}
for name, more in commands.items():
    done = [subprocess.run([*words, *more, *ray_], capture_output=True, text=True, env=environment) for ray_ in (["--ray"], [])]
    told[name] = [{"exit_code": one.returncode, "stdout": one.stdout, "stderr": one.stderr} for one in done]
print("PLAN", "command", json.dumps(told), flush=True)
print("PLAN", "nodes", json.dumps(len(ray.nodes())))
"""


@pytest.fixture(scope="module")
def over_ray():
    if not os.path.exists(RAY):
        pytest.skip(f"Ray is not installed here: there is no {RAY}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TIDEMARK_BIN": os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark")), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    done = subprocess.run([RAY, "-c", PROGRAM], input=json.dumps([LLAMA, ASKED, QUESTIONS]), capture_output=True, text=True, env=environment, timeout=500)
    assert done.returncode == 0, done.stderr
    lines = [line.split(" ", 2)[1:] for line in done.stdout.splitlines() if line.startswith("PLAN ")]
    return {name: json.loads(text) for name, text in lines}


def without_counts(text):
    """Parts simulate more than one search does."""
    return [line for line in text.splitlines() if "decided among" not in line and "could not be simulated" not in line]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answers_are_those_of_one_machine(built, over_ray, name):
    assert over_ray["nodes"] == 2
    shared, text = over_ray[name]
    alone = tidemark.plan(LLAMA, **{**ASKED, **QUESTIONS[name]})
    shared, alone_values = json.loads(shared), json.loads(alone.to_json())
    if name == "cheapest":
        assert [(row["place"], row["answers"]) for row in shared] == [(row["place"], row["answers"]) for row in alone_values]
    else:
        for key in ("answers", "refused", "candidates"):
            assert shared[key] == alone_values[key], key
        assert shared.get("least") == alone_values.get("least")
        assert shared["simulated"] >= alone_values["simulated"]
    assert without_counts(text) == without_counts(str(alone))


def test_what_is_wrong_is_said_as_on_one_machine(built, over_ray):
    with pytest.raises(tidemark.Error) as alone:
        tidemark.plan(LLAMA, **ASKED, lora={"target_modules": ["nothing_like_this"]})
    assert over_ray["error"] == [alone.value.code, str(alone.value)]


@pytest.mark.parametrize("name", ["fastest", "nothing_fits", "cheapest"])
def test_the_command_answers_over_ray_as_on_one_machine(built, over_ray, name):
    shared, alone = over_ray["command"][name]
    assert shared["exit_code"] == alone["exit_code"] == (1 if name == "nothing_fits" else 0), shared["stderr"]
    assert without_counts(shared["stdout"]) == without_counts(alone["stdout"])


def test_the_command_says_what_is_wrong_as_on_one_machine(built, over_ray):
    shared, alone = over_ray["command"]["wrong"]
    assert shared["exit_code"] == alone["exit_code"] == 2
    assert shared["stderr"].splitlines()[-1] == alone["stderr"].splitlines()[-1]


@pytest.mark.parametrize("wishes", [{"largest": "batch"}, {"checkpointing_under": "card"}])
def test_what_is_not_shared_out_is_an_error(built, tmp_path, wishes):
    with pytest.raises(tidemark.Error, match="asks next follows from the last answer"):
        tidemark.plan(LLAMA, ray=True, **ASKED, **wishes)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(LLAMA))
    option, value = next(iter(wishes.items()))
    done = subprocess.run([os.environ["TIDEMARK_BIN"], "plan", config, "--gpu", "l4", "--ray", "--" + option.replace("_", "-"), value], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--ray: what --" + option.replace("_", "-") + " asks next follows from the last answer" in done.stderr


def test_an_error_of_a_part_is_raised(built):
    with pytest.raises(errors.Error, match="wrong"):
        sharing.merged([{"answers": []}, errors.Error("usage", "wrong")])
