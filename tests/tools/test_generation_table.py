"""tools/trace/generation_table.py: the page that it makes, and what the page in docs says."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/trace")]
from generation_table import FAMILIES, SETTINGS, cases, page

VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0"}


def test_page_counts_equal_generations():
    cells = dict.fromkeys(cases(), "equal, 9") | {("llama", "long"): "differs at 3 of 9"}
    made = page(cells, VERSIONS)
    assert f"{len(cells) - 1} of {len(cells)} are equal." in made and "differs at 3 of 9" in made
    assert "transformers 5.24.0" in made


def test_page_in_docs_is_equal_everywhere():
    text = (ROOT / "docs/proved-generation.md").read_text()
    whole = len(FAMILIES) * len(SETTINGS)
    assert len(FAMILIES) >= 8 and f"{whole} of {whole} are equal." in text
    for family in FAMILIES:
        row = next(line for line in text.splitlines() if line.startswith(f"| {family} |"))
        assert row.count("equal, ") == len(SETTINGS)
