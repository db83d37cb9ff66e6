"""The commands of the pages are run, and print what the pages say.

In a ```console block a line with `$` is a command, and what follows its output: each line is one of the output's, in this order, `…` at its end stands for
more of it, and alone for any lines.  Of indented blocks each line that begins with `tidemark` is a command that has to end as a question does.
"""

import pathlib
import re

import pytest
from documents import ROOT

PAGES = sorted([*(ROOT / "docs/start").glob("*.md"), *(ROOT / "docs/howto").glob("*.md"), ROOT / "docs/why-more.md"])
# What is run elsewhere, or is no question.
ELSEWHERE = {
    r"tidemark run ": "programs of the user's: tests/examples, tests/cli/test_run.py",
    r"tidemark plan --vary ": "a program of the user's: tests/cli/test_plan_vary.py",
    r"tidemark serve ": "does not end: tests/serve",
    r"tidemark mcp$": "does not end: tests/python/test_mcp.py",
    r"tidemark prepare ": "a torch that is installed: tests/cli, tests/package",
    r"tidemark validate": "the corpora: tests/cli/test_validate.py, tests/validation",
    r"tidemark predict .*--trainer ": "trainers' files: tests/cli/test_trainer_configs.py",
    r"tidemark (predict|plan) train.yaml ": "trainers' files: tests/cli/test_trainer_configs.py",
    r"tidemark diff before.json": "reports of the user's: tests/cli/test_diff.py",
    r"tidemark predict --program ": "a captured program: tests/cli/test_captured_programs.py",
}


def consoles(page):
    """[(command, lines)] of a page."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            found.append((command, lines))
    return found


def indented(page):
    lines = [line.strip().split("     #")[0] for line in page.read_text().splitlines() if line.startswith("    tidemark ")]
    return [line for line in lines if not any(re.match(pattern, line) for pattern in ELSEWHERE)]


CONSOLES = [pytest.param(command, lines, id=f"{page.stem}: {command}") for page in PAGES for command, lines in consoles(page)]
INDENTED = [pytest.param(line, id=f"{page.stem}: {line}") for page in PAGES for line in indented(page)]


def is_shown(lines, output):
    """The first line that the output does not have in its place, or None."""
    rest = output.splitlines()
    anywhere = False
    for line in lines:
        if line == "…":
            anywhere = True
            continue
        places = range(len(rest)) if anywhere else range(min(1, len(rest)))
        found = next((at for at in places if rest[at].startswith(line[:-1].rstrip()) if line.endswith("…") or rest[at].rstrip() == line.rstrip()), None)
        if found is None:
            return line
        rest, anywhere = rest[found + 1 :], False
    return None


@pytest.mark.parametrize("command, lines", CONSOLES)
def test_what_a_page_shows(shell, command, lines):
    done = shell(command)
    assert done.returncode in (0, 1), done.stderr
    assert is_shown(lines, done.stdout) is None, f"not there: {is_shown(lines, done.stdout)!r}\n{done.stdout}"


@pytest.mark.parametrize("command", INDENTED)
def test_what_a_how_to_says(shell, command):
    done = shell(command)
    assert done.returncode in (0, 1), done.stderr


def test_the_runner_sees_what_differs():
    output = "fits: peak 1 GiB\n  a  2\n  b  3\n"
    assert is_shown(["fits: …", "…", "  b  3"], output) is None and is_shown(["…"], output) is None
    assert is_shown(["fits: peak 2 GiB"], output) == "fits: peak 2 GiB"
    assert is_shown(["fits: …", "  b  3"], output) == "  b  3"
    assert is_shown(["…", "  b  3", "…", "  a  2"], output) == "  a  2"


def test_every_kind_of_person_has_a_page_that_is_run():
    assert {page.stem for page in PAGES if page.parent.name == "start"} == {"one-card", "eight-cards", "cluster", "new-model"}
    assert len(CONSOLES) > 8 and len(INDENTED) > 8
    assert all(pathlib.Path(ROOT, "tests", re.search(r"tests/(\S+?),?(?: |$)", why)[1]).exists() for why in ELSEWHERE.values())
