"""What a program needs before it can run: an environment with its packages, and its own files.

Both are kept between runs: environments in PROGRAMS_ENVIRONMENTS (.venv-programs), files in PROGRAMS_CACHE (.cache/programs).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = Path(os.environ.get("PROGRAMS_ENVIRONMENTS", ROOT / ".venv-programs"))
CACHE = Path(os.environ.get("PROGRAMS_CACHE", ROOT / ".cache/programs"))
# A program may bring its own transformers, never its own torch: that is the release which is tried.
KEPT = ("torch", "torchvision", "triton")
# Built for a release of torch, whose numbers theirs follow, but their files ask for that one or any later: torchaudio 2.11.1 wants a symbol that 2.11.0 has not.
NOT_LATER_THAN_TORCH = ("torchaudio",)


@contextlib.contextmanager
def locked(path):
    """What is made once for many is made by one at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Missing(Exception):
    """What a program needs is not to be had here; the message says what."""


def versions(python, names):
    """{package: version} of those that the environment has."""
    code = "import importlib.metadata as m, json, sys\nfound = {}\nfor name in sys.argv[1:]:\n    try: found[name] = m.version(name)\n    except m.PackageNotFoundError: pass\nprint(json.dumps(found))"
    return json.loads(subprocess.run([python, "-c", code, *names], check=True, capture_output=True, text=True).stdout)


def environment(base, packages):
    """The Python to run with: the base's where nothing more is wanted, else one of an environment that sees the base's packages behind its own."""
    if not packages:
        return Path(base)
    about = json.dumps([str(base), versions(base, KEPT), packages])
    folder = ENVIRONMENTS / hashlib.sha256(about.encode()).hexdigest()[:12]
    with locked(folder):
        if not (folder / "made-of.json").exists():
            make_environment(folder, base, packages)
            share_commands(base, folder)
            (folder / "made-of.json").write_text(about)
    return folder / "bin/python"


def make_environment(folder, base, packages):
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)  # the base's pip is seen there too
    site = subprocess.run([base, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True).stdout.strip()
    own = next(folder.glob("lib/python*/site-packages"))
    (own / "base.pth").write_text(f"{site}\n")
    kept = folder / "kept.txt"
    found = versions(base, KEPT)
    kept.write_text("".join([*(f"{name}=={version}\n" for name, version in found.items()), *(f"{name}<={found['torch']}\n" for name in NOT_LATER_THAN_TORCH)]))
    for arguments in packages:
        done = subprocess.run([folder / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--constraint", kept, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"pip install {' '.join(arguments)}: {last_line(done.stderr)}")


def share_commands(base, folder):
    """The base's commands (torchrun, accelerate) that start the environment's Python."""
    for script in Path(base).parent.iterdir():
        own = folder / "bin" / script.name
        if script.is_file() and not script.is_symlink() and not own.exists():
            first, _, rest = script.read_bytes().partition(b"\n")
            if first.startswith(f"#!{Path(base).parent}/python".encode()):
                own.write_bytes(f"#!{folder}/bin/python\n".encode() + rest)
                own.chmod(0o755)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.startswith("ERROR")] or text.splitlines()
    return lines[-1] if lines else ""


def source(described, python):
    """The folder that holds the program."""
    wanted = described["source"]
    if "package" in wanted:
        return Path(
            subprocess.run([python, "-c", "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).submodule_search_locations[0])", wanted["package"]], check=True, capture_output=True, text=True).stdout.strip()
        ).parent
    with locked(CACHE / "sources"):
        if "archive" in wanted:
            return archive(wanted["archive"], python)
        return repository(wanted["repository"], wanted["commit"], wanted["release"], wanted.get("paths", []))


def archive(name, python):
    folder = CACHE / name
    if not folder.exists():
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([python, "-m", "pip", "--quiet", "download", "--no-deps", "--no-binary", ":all:", name, "--dest", scratch], capture_output=True, text=True)
            found = list(Path(scratch).glob("*.tar.gz"))
            if not found:
                raise Missing(f"pip download --no-binary :all: {name}: {last_line(done.stderr)}")
            with tarfile.open(found[0]) as tar:
                tar.extractall(Path(scratch, "whole"), filter="data")
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(next(Path(scratch, "whole").iterdir()), folder)
    return folder


def git_folder(name):
    """OWNER/NAME, OWNER+NAME or NAME under PROGRAMS_SOURCES: a clone, a bare one, or a folder with a bare one called `repo`."""
    above = Path(os.environ.get("PROGRAMS_SOURCES", ""))
    for path in (above / name, above / name.replace("/", "+"), above / name.split("/")[1]):
        for folder in (path / ".git", path / "repo", path):
            if (folder / "HEAD").exists():
                return folder
    return None


def repository(name, commit, release, paths=()):
    part_of = "-".join(["", *paths]).replace("/", "+")
    folder = CACHE / f"{name.replace('/', '+')}@{commit[:12]}{part_of}"
    if not folder.exists():
        wanted = f"https://github.com/{name} at {commit[:12]} ({release})"
        found = git_folder(name) if os.environ.get("PROGRAMS_SOURCES") else None
        if found is None:
            raise Missing(f"wants {wanted} under PROGRAMS_SOURCES")
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        with tempfile.TemporaryFile() as tar:
            if subprocess.run(["git", "--git-dir", found, "archive", commit, *paths], stdout=tar, stderr=subprocess.DEVNULL).returncode:
                raise Missing(f"wants {wanted}; the clone under PROGRAMS_SOURCES does not have that commit")
            tar.seek(0)
            subprocess.run(["tar", "x", "-C", part], stdin=tar, check=True)
        part.rename(folder)
    return folder
