"""What the documents say is what the program does."""

import json
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI_PAGE = ROOT / "docs" / "reference" / "cli.md"
BLOCKS = re.findall(r"```text\n\$ tidemark (.*?)\n(.*?)```", CLI_PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("arguments, text", BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_help_page_is_current(tidemark, arguments, text):
    shown = tidemark(*arguments.split()).stdout
    if os.environ.get("TIDEMARK_ACCEPT"):  # rewrites the page
        CLI_PAGE.write_text(CLI_PAGE.read_text().replace(f"$ tidemark {arguments}\n{text}```", f"$ tidemark {arguments}\n{shown}```"))
    else:
        assert shown == text, "run once with TIDEMARK_ACCEPT=1"


def test_every_command_has_its_help_on_the_page(tidemark):
    commands = re.findall(r"^  ([\w-]+) ", tidemark("--help").stdout.split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE)
    assert {f"{command} --help" for command in commands} | {"--help"} == {arguments for arguments, _ in BLOCKS}


def test_reports_follow_the_schema(tidemark, ready, reporting, python, folders, oom_record):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(json.loads((ROOT / "fuzz" / "corpus" / "report_json" / "full.json").read_text()))
    for oom in ("None", f"json.loads({oom_record!r})"):
        tidemark("run", "--gpu", "h100-80gb", "--json", "r.json", "--", python, reporting(oom=oom))
        validator.validate(json.loads((folders / "work" / "r.json").read_text()))
