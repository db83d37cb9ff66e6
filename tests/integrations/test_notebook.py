"""Reports in a notebook: tables of pandas' and pictures of matplotlib's own."""

import os
import subprocess

import pytest
from integrating import PYTHON, ROOT, SMALL, TIDEMARK, has

pytestmark = pytest.mark.skipif(not has("pandas") or not has("matplotlib"), reason="pandas or matplotlib is not installed: tools/requirements/integrations.txt")
BEGIN = f"""
import sys
sys.path.insert(0, {str(ROOT / "python")!r})
import matplotlib
matplotlib.use("agg")
import tidemark
report = tidemark.predict({SMALL!r}, batch=2, seq=128, gpu="l4", torch="2.11.0", transformers="5.17.0")
"""
TABLES = """
frame = report.to_pandas()
parts = [name for name in frame.columns if name.endswith("_bytes") and name not in ("allocated_bytes", "reserved_bytes")]
assert "activations_bytes" in parts and (frame[parts].sum(axis=1) == frame["allocated_bytes"]).all()
assert frame["allocated_bytes"].max() == report.peak.allocated_bytes
for table in ("category", "module", "operation"):
    assert report.to_pandas(table)["bytes"].sum() == report.peak.allocated_bytes, table
assert list(report.to_pandas("steps")["step"]) == [1, 2, 3]
"""
PICTURE = """
ax = report.plot()
labels = [text.get_text() for text in ax.get_legend().get_texts()]
assert {"parameters", "optimizer state", "activations", "reserved", report.card.name} <= set(labels) and "allocated" not in labels, labels
tops = [area.get_paths()[0].vertices[:, 1].max() * 2**30 for area in ax.collections]
assert round(max(tops)) == report.peak.allocated_bytes, max(tops)
ax.figure.savefig(sys.argv[1])
whole = tidemark.Report({key: value for key, value in report.to_dict().items() if key != "timeline_by_category"}).plot()
assert [line.get_label() for line in whole.get_lines()][:2] == ["reserved", "allocated"]
"""
PAGE = """
page = report._repr_html_()
assert page.startswith("<iframe srcdoc=") and "timeline_by_category" in page
"""


@pytest.mark.parametrize("code", [TABLES, PICTURE, PAGE], ids=["tables", "picture", "page"])
def test_a_report_shows_itself(tmp_path, code):
    done = subprocess.run([PYTHON, "-c", BEGIN + code, tmp_path / "picture.png"], env={**os.environ, "TIDEMARK_BIN": os.path.abspath(TIDEMARK)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert code is not PICTURE or (tmp_path / "picture.png").stat().st_size > 10_000
