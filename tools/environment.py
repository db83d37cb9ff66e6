#!/usr/bin/env python3
"""Makes a virtual environment of a list of packages, or of the base list with another torch and transformers in it.

    environment.py FOLDER LIST                  exactly these packages; `-r OTHER` adds those of a list beside it
    environment.py FOLDER TORCH TRANSFORMERS    tools/requirements/torch-2.15.txt, but for what these two releases ask for

Run again, it does only what is not done.  FOLDER/.requirements is the list that FOLDER was made of.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BASE = pathlib.Path(__file__).resolve().parent / "requirements/torch-2.15.txt"
TORCH_FAMILY = ("torch", "torchvision", "triton", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "transformers")
# Of NVIDIA's packages only cuDNN is wanted, whose heuristics work without a GPU.
NOT_WANTED = re.compile(r"(nvidia-(?!cudnn-)|cuda-)")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text):
    """{package: version} of a list."""
    rows = [line.split("==") for line in text.splitlines() if "==" in line and not line.startswith("#")]
    return {canonical(name): version.strip() for name, version in rows}


def listed(path):
    """The text of a list.  With a line `-r OTHER`, the pins of both lists, where those of this one win."""
    text = path.read_text()
    inherited = re.search(r"^-r (\S+)$", text, re.MULTILINE)
    if not inherited:
        return text
    rows = {**pins(listed(path.parent / inherited[1])), **pins(text)}
    return "".join(f"{name}=={version}\n" for name, version in sorted(rows.items()))


def with_release(base, resolved):
    """The base list with what pip found that a release needs; `resolved` is its report (pip install --report)."""
    found = {canonical(row["metadata"]["name"]): row["metadata"]["version"] for row in resolved["install"]}
    kept = {name: version for name, version in base.items() if name not in TORCH_FAMILY}
    chosen = {**kept, **{name: version for name, version in found.items() if not NOT_WANTED.match(name)}}
    return "".join(f"{name}=={version}\n" for name, version in sorted(chosen.items()))


def pip(folder, *arguments, **options):
    # Of all these only DeepSpeed comes as source; built apart from the environment, it does not look for a CUDA toolkit there.
    environment = {**os.environ, "DS_BUILD_OPS": "0"}
    command = [f"{folder}/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *arguments]
    return subprocess.run(command, env=environment, **options)


def resolve(folder, torch, transformers):
    """The list of a release: the versions of the base list hold where the release lets them."""
    # pip from 24.0 on does not download what it is only asked about (--dry-run).
    pip(folder, "--upgrade", "pip>=24.0", check=True)
    base = pins(listed(BASE))
    kept = {name: version for name, version in base.items() if name not in TORCH_FAMILY}
    release = (f"torch=={torch}", "torchvision", f"transformers=={transformers}")
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        if not with_all_kept(folder, release, kept, report):
            print("these releases need other versions than the base list has: of all its packages together, as few others as pip finds", flush=True)
            if not with_few_changed(folder, release, kept, report):
                sys.exit(f"there is no torch {torch} with transformers {transformers} and the packages of the base list: see above")
        return with_release(base, json.loads(report.read_text()))


def with_all_kept(folder, release, kept, report):
    """Writes what pip would install when every version of the base list stays.  Whether there is such a thing."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{name}=={version}\n" for name, version in kept.items()))
        file.flush()
        asked = ("--dry-run", "--ignore-installed", "--report", report, *release, "--constraint", file.name)
        return pip(folder, *asked, stderr=subprocess.DEVNULL).returncode == 0


def with_few_changed(folder, release, kept, report):
    """The same when those may change that the release, or what changed with it, does not accept: of what is installed pip keeps what it can."""
    pip(folder, "--no-deps", "--use-pep517", *(f"{name}=={version}" for name, version in kept.items()), check=True)
    return pip(folder, "--dry-run", "--report", report, *release, *kept).returncode == 0


def make(folder, wanted):
    """`wanted()` is the list."""
    if not (folder / "bin/python").exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True)
    text = wanted()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        pip(folder, "--no-compile", "--no-deps", "--use-pep517", "--requirement", file.name, check=True)
    compile_modules(folder)
    (folder / ".requirements").write_text(text)


def compile_modules(folder):
    """Bytecode of every package: also of those that are there already, which tools/demo.sh installs without it.
    Without it each process that imports torch and transformers compiles them for 10 s (2 cores, torch 2.15.0)."""
    packages = list(folder.glob("lib/python3*/site-packages"))
    # Not checked: packages bring files of other versions of Python.
    subprocess.run([f"{folder}/bin/python", "-m", "compileall", "-qq", "-j", "0", *packages])


def main(folder, *of):
    if len(of) not in (1, 2):
        sys.exit(__doc__)
    folder = pathlib.Path(folder)
    stamp = folder / ".requirements"
    have = stamp.read_text() if stamp.exists() else ""
    if len(of) == 1:
        text = listed(pathlib.Path(of[0]))
        done, wanted = have == text, lambda: text
    else:
        release = {"torch": of[0], "transformers": of[1]}
        done, wanted = release.items() <= pins(have).items(), lambda: resolve(folder, *of)
    if done:
        return
    print(f"installing {' '.join(map(str, of))} into {folder}", flush=True)
    make(folder, wanted)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
