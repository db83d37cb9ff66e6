#!/usr/bin/env python3
"""Compiles the torch extension for releases of torch, ahead of those who will not have a compiler.

usage: prebuild_extensions.py [--into FOLDER] [--wheels FOLDER] [VERSION ...]

Without a VERSION: every release from 2.6.0 on that pip can find.  Of each wheel only the headers and libc10.so are kept while it is
compiled for; `tidemark prepare --ship` does that, and knows what is compiled and under which name it is looked up.  TIDEMARK_BIN is
the command (build/release/apps/cli/tidemark).
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OLDEST = (2, 6)  # apps/cli/torch_probe.cpp
KEPT = re.compile(r"torch/(version\.py$|lib/libc10\.so$|include/)|torch-[^/]*\.dist-info/METADATA$")


def released():
    """Every release of torch that pip offers to this Python, oldest first."""
    listed = subprocess.run([sys.executable, "-m", "pip", "index", "versions", "torch"], check=True, capture_output=True, text=True).stdout
    versions = re.search(r"Available versions: (.*)", listed).group(1).split(", ")
    return [version for version in reversed(versions) if tuple(map(int, version.split(".")[:2])) >= OLDEST]


def wheel_of(version, wheels):
    """torch's wheel: one that lies in the folder, or pip puts it there."""
    found = lambda: sorted(wheels.glob(f"torch-{version}-*.whl")) + sorted(wheels.glob(f"torch-{version}+*.whl"))
    if not found():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", wheels, f"torch=={version}"], check=True)
    return found()[0]


def unpack(wheel, folder):
    """What compiling needs.  libtorch_cuda.so is asked for by its name alone."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if KEPT.match(name)])
    (folder / "torch" / "__init__.py").touch()
    (folder / "torch" / "lib" / "libtorch_cuda.so").touch()


def prebuild(version, wheels, into):
    """Whether it compiled."""
    # Always the same folder, because messages in torch's headers hold their paths: equal headers give equal binaries.
    folder = wheels / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    unpack(wheel_of(version, wheels), folder)
    command = [os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark"), "prepare", "--python", sys.executable, "--ship", into]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True)
    print((done.stdout if done.returncode == 0 else f"torch {version}: {done.stderr}").rstrip(), flush=True)
    shutil.rmtree(folder)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", metavar="VERSION", nargs="*")
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "build/release/extensions")
    parser.add_argument("--wheels", type=pathlib.Path, help="keep torch's wheels here, or take them from here (default: a folder that is removed)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheels = (options.wheels or pathlib.Path(temporary)).resolve()
        compiled = [prebuild(version, wheels, options.into.resolve()) for version in options.versions or released()]
    folders = {path.read_text() for path in options.into.iterdir() if path.is_file()}
    print(f"{sum(compiled)} of {len(compiled)} releases compiled; {len(folders)} different binaries")
    return 0 if all(compiled) else 1


if __name__ == "__main__":
    sys.exit(main())
