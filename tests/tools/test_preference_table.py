"""tools/trace/preference_table.py: the page that it makes, and what the page in docs says."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/trace")]
from preference_table import FAMILIES, LOOPS, MODES, cases, page

VERSIONS = {"torch": "2.15.0", "trl": "1.16.0"}


def test_page_counts_equal_trainings_and_shows_others():
    rows = {case["name"]: {"equal": True, "of": 9, "versions": VERSIONS} for case in cases()}
    rows["dpo.llama.full"] = {"equal": False, "at": 3, "of": 9, "versions": VERSIONS}
    rows["kto.qwen2.lora"] = {"failed": "prediction: no", "versions": VERSIONS}
    made = page(rows)
    whole = len(FAMILIES) * len(MODES)
    assert f"- dpo: {whole - 1} of {whole} equal." in made and f"- reward: {whole} of {whole} equal." in made
    assert "| llama | differs at 3 of 9 | equal, 9 |" in made and "prediction: no" in made and "trl 1.16.0" in made


def test_page_in_docs_has_each_family_and_loop():
    text = (ROOT / "docs/proved-preferences.md").read_text()
    whole = len(FAMILIES) * len(MODES)
    assert len(FAMILIES) >= 8
    for loop in LOOPS:
        assert f"- {loop}: {whole} of {whole} equal." in text
    for family in FAMILIES:
        row = next(line for line in text.splitlines() if line.startswith(f"| {family} |"))
        assert row.count("equal, ") == len(LOOPS) * len(MODES)
