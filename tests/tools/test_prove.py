"""tools/capture/prove.py: what two lists of allocations have in common, and the tables that it makes."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/capture"), str(ROOT / "python")]
from prove import allocations, compared, table


def test_what_differs_is_told(tmp_path):
    real, ours = tmp_path / "real", tmp_path / "ours"
    real.write_text("+512 aten::add model\n+1024 aten::mul model\n-512 aten::mul model\n+512 aten::neg model\n")
    ours.write_text("+512 aten::add model\n+1024 aten::mul model\n+512 aten::neg model\n-512 - -\n")
    assert compared(allocations(real), allocations(real)) == {"equal": True, "of": 3}
    found = compared(allocations(real), allocations(ours))
    assert not found["equal"] and found["at"] == 2 and found["real"][1] == [-512]


@pytest.mark.parametrize("name", ["proved-models.md", "proved-families.md"])
def test_the_tables_are_as_they_are_made(name, tmp_path):
    page, found = tmp_path / "page.md", tmp_path / "found"
    page.write_text((ROOT / "docs" / name).read_text())
    found.mkdir()
    table(found, page, name == "proved-families.md")
    assert page.read_text() == (ROOT / "docs" / name).read_text()


def test_the_tables_rows_of_others_stay(tmp_path):
    page, found = tmp_path / "page.md", tmp_path / "found"
    page.write_text((ROOT / "docs" / "proved-models.md").read_text())
    found.mkdir()
    (found / "bart.full.json").write_text('{"failed": "training: it is late"}')
    table(found, page)
    assert "| bart | [1] | equal" in page.read_text() and "1. bart, full: training: it is late" in page.read_text()
