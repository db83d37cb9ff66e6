"""tidemark.ray, and the example of integrations/ray on a cluster of several nodes on this machine."""

import json
import os
import subprocess

import pytest
from integrating import PYTHON, ROOT, SMALL, TIDEMARK, has

CARDS = {"L4": "l4", "L40S": "l40s", "H100": "h100-80gb"}


@pytest.fixture
def resources(monkeypatch):
    monkeypatch.setenv("TIDEMARK_BIN", TIDEMARK)
    import tidemark.ray

    return tidemark.ray.resources


def test_the_first_card_on_which_it_fits(resources):
    training = {"model": SMALL, "seq": 128}
    small, large = (resources({**training, "batch": batch}, cards=CARDS) for batch in (2, 12000))
    assert (small.accelerator_type, large.accelerator_type) == ("L4", "H100")
    assert large.bundles == [{"GPU": 1, "CPU": 1, "accelerator_type:H100": 0.001}]
    assert large.report.card.key == "h100-80gb" and large.report.fits
    assert large.scaling == {"num_workers": 1, "use_gpu": True, "resources_per_worker": {"CPU": 1, "GPU": 1}, "accelerator_type": "H100", "placement_strategy": "STRICT_PACK"}


def test_ranks_and_nodes(resources):
    many = resources({"model": SMALL, "seq": 128, "gpus": 8, "gpus_per_node": 4, "parallel": "zero2"}, cards=CARDS, cpus_per_rank=6)
    assert many.bundles == [{"GPU": 4, "CPU": 24, "accelerator_type:L4": 0.001}] * 2 and many.strategy == "STRICT_SPREAD"
    assert many.scaling["num_workers"] == 8 and many.scaling["placement_strategy"] == "PACK"
    one_node = resources({"model": SMALL, "seq": 128, "gpus": 8, "parallel": "zero2"}, cards=CARDS)
    assert [bundle["GPU"] for bundle in one_node.bundles] == [8] and one_node.scaling["placement_strategy"] == "STRICT_PACK"


def test_a_spec_file(resources, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    (tmp_path / "train.yaml").write_text("model: config.json   # beside this file\nseq: 128\nbatch: 12000\n")
    assert resources(tmp_path / "train.yaml", cards=CARDS).accelerator_type == "H100"


def test_what_is_wrong_is_said(resources, tmp_path):
    import tidemark

    (tmp_path / "wrong.yaml").write_text("batsch: 3\n")
    for spec, cards, said in (
        ({"model": SMALL, "seq": 128, "batch": 999999}, CARDS, "it fits on no card of the cluster\n  L4: does not fit: out of memory"),
        ({"seq": 128}, CARDS, "it says no model"),
        ({"model": SMALL, "batsch": 3}, CARDS, "did you mean batch?"),
        (tmp_path / "wrong.yaml", CARDS, "did you mean batch?"),
        ({"model": SMALL}, {"H100": "h1000"}, "h1000"),
    ):
        with pytest.raises(tidemark.Error) as error:
            resources(spec, cards=cards)
        assert said in str(error.value)


def test_names_of_a_cluster(resources):
    from tidemark import placing

    assert [card["key"] for card in placing.cards_of("H100")] == ["h100-pcie", "h100-80gb", "h100-nvl"]
    assert [card["key"] for card in placing.cards_of("L4")] == ["l4"] and [card["key"] for card in placing.cards_of("RTX-PRO-6000")] == ["rtx-pro-6000"]
    assert placing.cards_of("A100")[0]["key"] == "a100-40gb-pcie" and placing.cards_of("TPU-V9") == []


@pytest.mark.skipif(not has("ray"), reason="Ray is not installed: tools/requirements/integrations.txt")
def test_a_cluster(tmp_path):
    environment = {**os.environ, "TIDEMARK_BIN": TIDEMARK, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "HOME": str(tmp_path)}
    environment |= {"PYTHONPATH": f"{ROOT}/python:{ROOT}/integrations/ray"}
    done = subprocess.run([PYTHON, ROOT / "tests/integrations/on_ray.py", ROOT, json.dumps(SMALL)], env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    assert answers["small"] == {"type": "L4", "nodes": ["l1"], "gpus": [[0]]}
    assert answers["large"]["type"] == "H100" and answers["large"]["nodes"] in (["h1"], ["h2"])
    # It fits on an L4 too, of which there is one.
    two = answers["two nodes"]
    assert two["type"] == "H100" and sorted((two["nodes"][:3], two["nodes"][3:])) == [["h1"] * 3, ["h2"] * 3]
    assert all(len({gpu for gpus in half for gpu in gpus}) == 3 for half in (two["gpus"][:3], two["gpus"][3:]))
    assert answers["nowhere"].startswith("spec: it fits on no card of the cluster\n  L4: does not fit")
    assert answers["too many"].startswith("spec: the cluster has too few of L4 and H100, on which it fits")
