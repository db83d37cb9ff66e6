"""data/residuals.json, which `--margin` reads: its form.  That it is current is asserted by tests/validation/test_accuracy.py."""

import json
from pathlib import Path

GROUPS = json.loads((Path(__file__).resolve().parents[2] / "data" / "residuals.json").read_text(encoding="utf-8"))


def test_groups_are_in_order():
    assert GROUPS["schema"] == "tidemark.residuals/1" and "validation/" in GROUPS["source"]
    names = [group["modality"] for group in GROUPS["groups"]]
    assert names == sorted(set(names)) and "text" in names
    for group in GROUPS["groups"]:
        assert group["n"] == len(group["residuals"]) > 0
        assert group["residuals"] == sorted(group["residuals"]) and group["residuals"][0] > -1
