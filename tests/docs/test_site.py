"""The documents as a site: built with every link followed; its pictures are those of today's reports."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from documents import ROOT, TIDEMARK

PYTHON = os.environ.get("TIDEMARK_INTEGRATIONS", str(ROOT / ".venv-integrations/bin/python"))
BUILDER = pytest.mark.skipif(not list(pathlib.Path(PYTHON).parents[1].glob("lib/python*/site-packages/material")), reason="mkdocs-material is not installed: tools/requirements/integrations.txt")


def build(root, site, **environment):
    return subprocess.run([root / "tools/build_docs.sh", site], env={**os.environ, "PYTHON": os.path.abspath(PYTHON), **environment}, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    done = build(ROOT, place, DOCS_REPOSITORY="https://example.org/tree")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return place


@BUILDER
def test_every_page_is_there(site):
    pages = {str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages <= {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert len(list((site / "pictures").glob("*.svg"))) == 3


@BUILDER
def test_links_out_of_the_documents_lead_to_the_repository(site):
    assert 'href="https://example.org/tree/README.md#what-runs-on-the-virtual-gpu"' in (site / "howto/python.html").read_text()
    assert 'href="https://example.org/tree/integrations/slurm/README.md"' in (site / "start/cluster.html").read_text()


@BUILDER
def test_without_a_repository_they_name_what_is_there(tmp_path):
    done = build(ROOT, tmp_path, DOCS_REPOSITORY="")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    cluster = (tmp_path / "start/cluster.html").read_text()
    assert "<code>integrations/slurm/README.md</code>" in cluster and 'README.md"' not in cluster


@BUILDER
def test_signatures_are_those_of_the_sources(site):
    text = re.sub(r"<[^>]+>", "", (site / "reference/signatures.html").read_text())
    for name in ("tidemark.predict(config, *, inputs=None", "tidemark.ray.resources(spec, *, cards=None", "Report.explain(by=", "class tidemark.Error"):
        assert name in text.replace("&#39;", "'"), name


@BUILDER
def test_nothing_is_asked_of_another_place(site):
    for page in site.rglob("*.html"):
        assert not re.search(r'<(?:script|img|link rel="stylesheet")[^>]* (?:src|href)="https?:', page.read_text()), page


@BUILDER
@pytest.mark.parametrize(
    "line, said",
    [
        ("[a](howto/nowhere.md)", "howto/nowhere.md"),
        ("[a](howto/plan.md#no-such-heading)", "no-such-heading"),
        ("[a](../src/nowhere.cpp)", "there is no ../src/nowhere.cpp"),
    ],
)
def test_a_link_that_leads_nowhere_fails(tmp_path, line, said):
    for name in ("docs", "python/tidemark", "tools/site", "tools/build_docs.sh", "mkdocs.yml", *(path.name for path in ROOT.glob("*.md"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    for name in ("validation", "integrations", "bench", "examples", "include", "data", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    with (tmp_path / "docs/index.md").open("a") as page:
        page.write(f"\n{line}\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0 and said in done.stdout + done.stderr


def test_the_pictures_are_current(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools/site/pictures.py", tmp_path], env={**os.environ, "TIDEMARK_BIN": TIDEMARK}, check=True)
    for stored in (ROOT / "docs/pictures").iterdir():
        assert (tmp_path / stored.name).read_text() == stored.read_text(), f"{stored.name}: run tools/site/pictures.py"
    assert len(list(tmp_path.iterdir())) == 3
