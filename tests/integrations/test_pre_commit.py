"""The hook, by the real pre-commit, on a repository of the test's own; nothing is asked of a network."""

import json
import os
import shutil
import subprocess

import pytest
from integrating import PYTHON, ROOT, SMALL, TIDEMARK, has

pytestmark = pytest.mark.skipif(not has("pre_commit"), reason="pre-commit is not installed: tools/requirements/integrations.txt")
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tidemark").symlink_to(os.path.abspath(TIDEMARK))
    # An unreachable proxy: what would ask a network fails.
    return {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path), "PRE_COMMIT_HOME": str(tmp_path / "cache"), "https_proxy": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}


@pytest.fixture
def hooks(tmp_path):
    """A repository with what the hook is made of, and its commit."""
    folder = tmp_path / "hooks"
    (folder / "integrations/pre-commit").mkdir(parents=True)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    shutil.copy(ROOT / "integrations/pre-commit/fits.sh", folder / "integrations/pre-commit")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "hooks"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder, subprocess.run([*GIT, "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def commit(tmp_path, hooks, environment):
    """commit(name, spec's keys, args) -> (whether git has committed, what was said)"""
    folder = tmp_path / "training"
    folder.mkdir()
    subprocess.run([*GIT, "init", "--quiet"], cwd=folder, check=True)
    pre_commit = [PYTHON, "-m", "pre_commit"]

    def go(name, keys, args=()):
        config = {"repos": [{"repo": str(hooks[0]), "rev": hooks[1], "hooks": [{"id": "tidemark-fits", "files": "^specs/", "args": list(args)}]}]}
        (folder / ".pre-commit-config.yaml").write_text(json.dumps(config))  # YAML too
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps({"model": SMALL, "batch": 2, "seq": 128, **keys}))
        subprocess.run([*GIT, "add", "--all"], cwd=folder, check=True)
        subprocess.run([*pre_commit, "install"], cwd=folder, env=environment, check=True, capture_output=True)
        done = subprocess.run([*GIT, "commit", "--message", "a spec"], cwd=folder, env=environment, capture_output=True, text=True)
        return done.returncode == 0, done.stdout + done.stderr

    return go


def test_what_fits_is_committed(commit):
    done, said = commit("specs/train.json", {"gpu": "l4"})
    assert done and "trainings fit their cards" in said and "Passed" in said, said


def test_what_does_not_fit_is_not(commit):
    done, said = commit("specs/train.json", {"gpu": "l4", "batch": 99999})
    assert not done and "- exit code: 1" in said and "specs/train.json: does not fit: out of memory at step 1" in said, said
    done, said = commit("specs/train.json", {"gpu": "l4", "batch": 12000}, ["--gpu", "h100-80gb"])
    assert done, said


def test_a_wrong_spec_is_not(commit):
    done, said = commit("specs/train.yaml", {"gpu": "l4", "batsch": 1})
    assert not done and "- exit code: 2" in said and '"batsch" is not a known key' in said and "did you mean batch?" in said, said


def test_other_files_are_left_alone(commit):
    done, said = commit("elsewhere/train.json", {"batsch": 1})
    assert done and "Skipped" in said, said


def test_without_the_command(tmp_path):
    script = ROOT / "integrations/pre-commit/fits.sh"
    done = subprocess.run(["/bin/bash", script, "a.yaml"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 2 and "not on the PATH" in done.stderr


def test_options_stand_in_front_of_files(tmp_path, environment):
    (tmp_path / "a.json").write_text(json.dumps({"model": SMALL, "batch": 12000, "seq": 128, "gpu": "l4"}))
    for options, code in (((), 1), (("--gpu", "h100-80gb"), 0), (("--gpu=h100-80gb",), 0), (("--gpu", "h1000"), 2)):
        done = subprocess.run([ROOT / "integrations/pre-commit/fits.sh", *options, "a.json"], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == code and done.stdout.startswith("a.json: "), (options, done)
