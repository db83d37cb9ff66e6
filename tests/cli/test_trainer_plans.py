"""Plans of a trainer's own file: what that trainer can do, in its words, with a command that runs."""

import json
import shlex

import pytest
from test_trainer_configs import LLAMAFACTORY, ZERO2, changed, fill


@pytest.fixture
def work(folders):
    return fill(folders / "work")


PLANNED_FILES = [
    (["llamafactory.yaml", "--gpu", "rtx-4090x2", "--deepspeed", "z2.json"], "llamafactory"),
    (["trl.yaml", "--gpu", "rtx-3060-12gb"], "trl"),
    (["swift.sh", "--gpu", "rtx-4090x2"], "swift"),
    (["axolotl.yml", "--gpu", "rtx-4090"], "axolotl"),
    (["model", "--trainer", "args.json", "--seq", 512, "--gpu", "rtx-4090x2"], "trainer"),
    (["model", "--batch", 2, "--seq", 256, "--gpu", "rtx-4090x2", "--parallel", "zero2", "--zero-offload-optimizer", "cpu"], None),
    (["model", "--batch", 2, "--seq", 256, "--gpu", "rtx-4090", "--max-grad-norm", 1, "--weight-decay", 0.1], None),
]


@pytest.mark.parametrize("options, trainer", PLANNED_FILES)
def test_command_of_a_plan_runs_and_answers_the_same(tidemark, work, options, trainer):
    (work / "z2.json").write_text(json.dumps(ZERO2))
    done = tidemark("plan", *options, "--json", "plan.json")
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads((work / "plan.json").read_text())["answers"][0]
    words = shlex.split(done.stdout.split("the first, alone:")[1].split("\n")[1])
    again = tidemark(*words[1:], "--json", "again.json")
    assert again.returncode == 0, again.stdout + again.stderr
    peak = json.loads((work / "again.json").read_text())["peak"]
    assert (peak["allocated_bytes"], peak["reserved_bytes"]) == (answer["peak"]["allocated_bytes"], answer["peak"]["reserved_bytes"])
    if trainer in ("llamafactory", "swift"):  # their files have no such keys
        assert not {"cp", "tp", "pp", "checkpoint_every", "checkpoint_layers"} & {key for key, value in answer["change"].items() if value}


def test_plan_is_in_the_words_of_the_trainer(tidemark, work):
    (work / "llamafactory.yaml").write_text(changed(LLAMAFACTORY, "per_device_train_batch_size", 1))
    done = tidemark("plan", "llamafactory.yaml", "--gpu", "rtx-4090")
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("in the file of llamafactory:")[1]
    assert "per_device_train_batch_size" in said and "gradient_accumulation_steps" in said
