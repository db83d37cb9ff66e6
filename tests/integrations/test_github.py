"""integrations/github: the steps of the action as a runner runs them, on a repository with a pull request, with a `gh` that writes down what it is told."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from integrating import ROOT, SMALL, TIDEMARK

HERE = ROOT / "integrations/github"
ACTION = yaml.safe_load((HERE / "action.yml").read_text())
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_CALLS"
case "$*" in *--paginate*) cat "$GH_EARLIER";; *"body=@"*) cp "${!##body=@}" "$GH_BODY";; esac
"""


@pytest.fixture
def repository(tmp_path):
    """commit(name, **spec) writes and commits a spec in a clone, and tells the commit."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", clone], check=True)

    def commit(**specs):
        for name, spec in specs.items():
            (clone / f"{name}.json").write_text(json.dumps({"model": SMALL, "batch": 2, "seq": 128, "gpu": "l4", **spec}))
        git = ["git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run([*git, "add", "--all"], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", "a spec"], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    commit.folder = clone
    return commit


@pytest.fixture
def run(tmp_path, repository):
    """run(inputs, base, earlier) -> Ran: all steps, as far as a runner would go."""

    def go(inputs, base=None, earlier=""):
        tools = tmp_path / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "gh").write_text(GH)
        (tools / "gh").chmod(0o755)
        (tools / "tidemark").unlink(missing_ok=True)
        (tools / "tidemark").symlink_to(os.path.abspath(TIDEMARK))
        (tmp_path / "earlier").write_text(earlier)
        for name in ("output", "summary", "calls", "body"):
            (tmp_path / name).write_text("")
        (tmp_path / "temp").mkdir(exist_ok=True)
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "GITHUB_ACTION_PATH": str(HERE),
            "GITHUB_REPOSITORY": "us/ours",
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GH_CALLS": str(tmp_path / "calls"),
            "GH_EARLIER": str(tmp_path / "earlier"),
            "GH_BODY": str(tmp_path / "body"),
        }
        known = {f"inputs.{name}": str(inputs.get(name, row.get("default", ""))) for name, row in ACTION["inputs"].items()}
        event = {"github.event_name": "pull_request" if base else "push", "github.event.pull_request.base.sha": base or "", "github.event.pull_request.number": "7" if base else ""}
        code, said = 0, ""
        for step in ACTION["runs"]["steps"]:
            if not holds(step.get("if", ""), {**known, **event}, code):
                continue
            values = {key: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: {**known, **event, "github.token": "secret"}[found[1]], value) for key, value in step.get("env", {}).items()}
            script = tmp_path / "step.sh"
            script.write_text(step["run"])
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=repository.folder, env={**environment, **values}, capture_output=True, text=True)
            code, said = code or done.returncode, said + done.stdout + done.stderr
        read = {name: (tmp_path / name).read_text() for name in ("output", "summary", "calls", "body")}
        return code, said, read

    return go


def holds(condition, values, code):
    """`if:` of a step: terms that are joined by &&, where always() says that it runs behind a failure too."""
    terms = [term.strip() for term in condition.split("&&") if term.strip()]
    if code and "always()" not in terms:
        return False
    for term in terms:
        if term != "always()":
            name, sign, value = re.fullmatch(r"(\S+) (==|!=) '(.*)'", term).groups()
            if (values[name] == value) != (sign == "=="):
                return False
    return True


def test_a_change_is_commented(run, repository):
    base = repository(train={})
    repository(train={"batch": 4}, other={})
    code, said, read = run({"specs": "train.json\nother.json"}, base)
    assert code == 0, said
    assert read["output"] == "fits=true\n"
    assert read["body"] == read["summary"] and read["body"].startswith("<!-- tidemark -->\n### GPU memory\n**`train.json`** fits: peak ")
    before, now = re.search(r"\n  allocated +([\d,]+) +([\d,]+) ", read["body"]).groups()
    assert int(before.replace(",", "")) < int(now.replace(",", "")) and "note:" not in read["body"]
    assert re.search(r"\nbefore: fits: peak ", read["body"]) and re.search(r"\*\*`other.json`\*\* fits: .*\n\(new\)\n", read["body"])
    assert read["calls"].splitlines()[1] == f"api --silent --method POST repos/us/ours/issues/7/comments --field body=@{said_path(read)}"
    assert subprocess.run(["git", "worktree", "list"], cwd=repository.folder, capture_output=True, text=True).stdout.count("\n") == 1


def said_path(read):
    return re.search(r"body=@(\S+)", read["calls"])[1]


def test_a_later_run_changes_the_comment(run, repository):
    base = repository(train={})
    _, said, read = run({"specs": "train.json"}, base, earlier="1234\n5678\n")
    assert "(unchanged)" in read["body"], said
    assert read["calls"].splitlines()[1].startswith("api --silent --method PATCH repos/us/ours/issues/comments/1234 --field body=@")


def test_what_does_not_fit_fails_and_is_commented(run, repository):
    base = repository(train={})
    repository(train={"batch": 99999})
    code, said, read = run({"specs": "train.json"}, base)
    assert code == 1 and read["output"] == "fits=false\n"
    assert "::error file=train.json::does not fit: out of memory at step 1" in said
    assert "does not fit" in read["body"] and "before: fits: peak" in read["body"]
    assert run({"specs": "train.json", "gpu": "h200"}, base)[0] == 1 and run({"specs": "train.json", "gpu": "b200", "comment": "false"}, base)[2]["calls"] == ""


def test_a_wrong_spec_fails_with_the_code_of_the_command(run, repository):
    repository(train={"batsch": 1}, unknown={"model": {"model_type": "nope"}}, good={})
    code, said, read = run({"specs": "good.json train.json"})
    assert code == 2 and "did you mean batch?" in said and "%0A" in said and read["calls"] == ""
    assert run({"specs": "good.json unknown.json train.json"})[0] == 3


def test_what_is_wrong_before_fails_nothing(run, repository):
    base = repository(train={"batsch": 1})
    repository(train={})
    code, said, read = run({"specs": "train.json"}, base)
    assert code == 0 and re.search(r"before: tidemark: .*batsch", read["body"]), said


def test_the_base_is_fetched_where_the_clone_is_shallow(run, repository, tmp_path):
    base = repository(train={})
    repository(train={"batch": 4})
    origin = tmp_path / "origin"
    repository.folder.rename(origin)
    subprocess.run(["git", "-C", origin, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)  # as on GitHub
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{origin}", repository.folder], check=True)
    code, said, read = run({"specs": "train.json"}, base)
    assert code == 0 and "before: fits" in read["body"], said


@pytest.mark.skipif(not shutil.which("actionlint"), reason="actionlint is not installed: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7")
@pytest.mark.parametrize("right, wrong, said", [("", "", ""), ("specs:", "spec:", 'input "spec" is not defined'), ("on: pull_request", "on: pull_requests", 'unknown Webhook event "pull_requests"')])
def test_the_workflow_is_one_that_uses_the_action(repository, right, wrong, said):
    (workflow,) = re.findall(r"```yaml\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
    github = repository.folder / ".github"
    (github / "workflows").mkdir(parents=True)
    (github / "workflows/memory.yml").write_text(workflow.replace(right, wrong) if right else workflow)
    shutil.copytree(HERE, github / "actions/gpu-memory")
    done = subprocess.run(["actionlint", "-no-color"], cwd=repository.folder, capture_output=True, text=True)
    assert (done.returncode == 0) == (not said) and said in done.stdout, done.stdout + done.stderr
