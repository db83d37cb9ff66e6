"""gpus, report, version, help."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from test_errors import UNSUPPORTED, refused

REPORT = {
    "schema": "tidemark.report/1",
    "engine": "run",
    "fits": True,
    "verdict": "fits: peak 1.00 GiB of 2.00 GiB, 1.00 GiB free",
    "card": {"key": "k", "name": "A <card>", "total_bytes": 2 << 30, "driver_reserved_bytes": 0, "context_bytes": 0},
    "peak": {"allocated_bytes": 1 << 30, "reserved_bytes": 1 << 30, "device_bytes": 1 << 30, "step": 1, "phase": "forward"},
    "timeline": [{"event": i, "allocated_bytes": i << 20, "reserved_bytes": i << 21, "step": i // 10, "phase": "forward"} for i in range(100)],
    "at_peak": {"by_category": [{"name": "parameters", "bytes": 1 << 30}]},
}


@pytest.fixture
def stored(folders):
    (folders / "work" / "r.json").write_text(json.dumps(REPORT))


def test_gpus_lists_every_card(tidemark):
    done = tidemark("gpus")
    assert done.returncode == 0
    cards = json.loads(tidemark("gpus", "--json").stdout)
    assert len(cards) >= 25
    assert len(done.stdout.splitlines()) == len(cards) + 1
    for card in cards:
        assert re.search(rf"^{re.escape(card['key'])} ", done.stdout, re.MULTILINE)
        assert card["sources"]


def test_a_card_from_the_list_works_as_a_file(tidemark, folders, ready, reporting, python):
    card = json.loads(tidemark("gpus", "--json").stdout)[0]
    (folders / "work" / "mine.json").write_text(json.dumps(card))
    done = tidemark("run", "--gpu", "mine.json", "--quiet", "--", python, reporting())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("word", ["version", "--version", "-V"])
def test_version(tidemark, word):
    assert re.fullmatch(r"tidemark \d+\.\d+\.\d+\n", tidemark(word).stdout)


def test_unknown_option_of_no_command(tidemark):
    done = tidemark("--verion")
    assert done.returncode == 2 and done.stderr.startswith("tidemark: tidemark: there is no option --verion\n")
    assert "--version" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["run", "--help"]])
def test_help_shows_examples(tidemark, arguments):
    done = tidemark(*arguments)
    assert done.returncode == 0
    assert "tidemark run --gpu h100-80gb -- python train.py" in done.stdout


def test_report_as_text(tidemark, stored):
    done = tidemark("report", "r.json")
    assert done.returncode == 0
    assert done.stdout.startswith(REPORT["verdict"] + "\n")


def test_report_as_json_again(tidemark, stored):
    again = json.loads(tidemark("report", "r.json", "--json", "-").stdout)
    for key in ("verdict", "card", "timeline"):
        assert again[key] == REPORT[key]


def test_report_as_html_is_a_valid_page(tidemark, stored, folders):
    assert tidemark("report", "r.json", "--html", "r.html").returncode == 0
    page = (folders / "work" / "r.html").read_text()
    assert "<card>" not in page and "default-src 'none'; script-src 'sha256-" in page
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[-1]
    if shutil.which("node"):
        (folders / "work" / "r.js").write_text(script)
        assert subprocess.run(["node", "--check", folders / "work" / "r.js"]).returncode == 0
    shown = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))["report"]
    assert shown["card"]["name"] == "A <card>" and shown["timeline"][3]["reserved_bytes"] == 3 << 21


def test_mcp_without_the_sdk_names_the_package(tidemark, folders):
    (folders / "env" / "bin").mkdir()
    (folders / "env" / "bin" / "python").symlink_to(sys.executable)
    done = tidemark("mcp")
    refused(done, UNSUPPORTED, "tidemark mcp: ", "has no mcp", "pip install 'tidemark-gpu[mcp]'")


def test_mcp_starts_the_environments_python(tidemark, folders):
    """One that answers with its arguments, and the variables that are set for it."""
    (folders / "env" / "bin").mkdir()
    (folders / "env" / "lib" / "python3.11" / "site-packages" / "mcp-2.3.0.dist-info").mkdir(parents=True)
    python = folders / "env" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$*" "$TIDEMARK_BIN"; cat; test -e "${PYTHONPATH%%:*}/tidemark/mcp_server.py"\n')
    python.chmod(0o755)
    done = tidemark("mcp")
    assert (done.returncode, done.stdout) == (0, f"-m tidemark.mcp_server {os.path.realpath(os.environ.get('TIDEMARK', 'build/release/apps/cli/tidemark'))}\n")
