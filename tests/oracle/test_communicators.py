"""The communicators that real programs make on the virtual GPU, and those that a prediction takes them to make."""

import json
import subprocess
import sys

import pytest
from harness import PROGRAMS, ROOT, TIDEMARK, report_of

sys.path.insert(0, str(ROOT / "tools" / "trace"))
from step_cases import cases

SPECS = {case["name"]: case["spec"] for case in cases()}
# A case of tests/golden/steps, GPUs of a node where it is not all, and the rank.
TRAININGS = {
    "ddp_plain": (None, 1),
    "zero1_plain": (None, 1),
    "zero2_plain": (None, 0),
    "zero3_plain": (None, 1),
    "fsdp1_plain": (None, 0),
    "fsdp1_hybrid_plain": (2, 3),
    "fsdp2_plain": (None, 1),
    "hsdp_mixed": (2, 1),
    "tp_plan": (None, 1),
    "tp_fsdp2_plain": (2, 3),
    "tp_ddp_plain": (2, 2),
    "ep_full": (None, 0),
    "pp_1f1b_1": (None, 1),
    "pp_fsdp2_plain_1": (2, 1),
    "cp_two_1": (None, 1),
    "cp_four_alltoall_1": (2, 1),
    "cp_four_fsdp2_3": (2, 3),
}


def predicted(spec, folder):
    (folder / "spec.json").write_text(json.dumps({**spec, "gpu": "h100-80gb"}))
    done = subprocess.run([TIDEMARK, "predict", "--spec", str(folder / "spec.json"), "--json", "-"], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def shown(report):
    """Names are the program's own: what is compared is who they join, and how they are used."""
    return sorted((row["ranks"], row["across_nodes"], row["collective"], row["peers"]) for row in report.get("communicators", []))


@pytest.mark.slow("communicators of each strategy", keep=["tp_plan"])
@pytest.mark.parametrize("name", TRAININGS)
def test_a_prediction_lists_those_of_the_program(name, tmp_path):
    per_node, rank = TRAININGS[name]
    spec = {**SPECS[name], "rank": rank, **({"gpus_per_node": per_node} if per_node else {})}
    world = ("--gpus", str(spec["gpus"]), "--rank", str(rank), *(("--gpus-per-node", str(per_node)) if per_node else ()))
    found, _ = report_of(PROGRAMS / "spec_training.py", json.dumps(spec), folder=tmp_path, gpu="h100-80gb", options=("--keep-going", *world))
    foretold = predicted(spec, tmp_path)
    assert shown(found)
    assert shown(foretold) == shown(found)
    items = [{row["name"]: row for row in report["device"]} for report in (found, foretold)]
    assert items[0] == items[1]
    for report in (found, foretold):
        assert report["peak"]["device_bytes"] == report["peak"]["reserved_bytes"] + sum(row["typical_bytes"] for row in report["device"])


@pytest.mark.slow("ranks of groups that are split off groups")
def test_groups_of_a_group_have_ranks_of_the_world(tmp_path):
    found, _ = report_of(PROGRAMS / "split_groups.py", folder=tmp_path, gpu="h100-80gb", options=("--keep-going", "--gpus", "8", "--rank", "6"))
    rows = {tuple(row["ranks"]): row for row in found["communicators"]}
    assert set(rows) == {tuple(range(8)), (4, 5, 6, 7), (4, 6), (6,)}
    assert rows[4, 6]["collective"] and not rows[4, 5, 6, 7]["collective"]
    assert 0 < rows[6,]["typical_bytes"] < rows[4, 6]["typical_bytes"]  # one rank moves nothing, and its communicator is made all the same


def test_groups_may_outlive_the_interpreter(tmp_path):
    report_of(PROGRAMS / "groups_that_stay.py", folder=tmp_path, gpu="h100-80gb", options=("--keep-going", "--gpus", "2"))
