"""Fetches the real cuDNN into Tidemark's cache, for machines whose torch came without NVIDIA's packages: `python -m tidemark.cudnn_fetch`.

The virtual GPU asks the real library how much workspace convolutions, batch norm and RNNs take; no GPU is needed.  Which release is
asked matters: the one that torch was built with, or of an older torch, the first of cuDNN 9.
"""

import argparse
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

FIRST_ASKED = (9, 0, 0)
PINNED_BELOW = "9.1.0.70"  # what stands in for an older pin
LIBRARIES = ("libcudnn_graph", "libcudnn_heuristic", "libcudnn_engines_precompiled", "libcudnn_engines_runtime_compiled", "libcudnn_ops", "libcudnn_adv", "libcudnn_cnn")


def cache_folder():
    """Where virtual_gpu/cudnn_find.cpp looks."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tidemark" / "cudnn"


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def torch_pin(requirements=None):
    """("12", "9.1.0.70") as torch's own metadata names them, or None where there is no torch or it pins no cuDNN."""
    if requirements is None:
        try:
            requirements = importlib.metadata.requires("torch") or []
        except importlib.metadata.PackageNotFoundError:
            return None
    for requirement in requirements:
        if found := re.match(r"nvidia-cudnn-cu(\d+)\s*\(?==\s*([\d.]+)", requirement):
            return found.groups()
    return None


def version_to_fetch(pinned):
    return pinned if numbers(pinned)[:3] >= FIRST_ASKED else PINNED_BELOW


def fetch(cuda_major, version, cache=None):
    """Downloads NVIDIA's package with pip and unpacks its libraries; returns their folder."""
    cache = cache or cache_folder()
    folder = cache / f"cu{cuda_major}-{'.'.join(version.split('.')[:3])}"
    if all((folder / f"{library}.so.9").exists() for library in LIBRARIES):
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", scratch]
        subprocess.run([*command, f"nvidia-cudnn-cu{cuda_major}=={version}"], check=True)
        (wheel,) = pathlib.Path(scratch).glob("*.whl")
        unpack(wheel, pathlib.Path(scratch) / "libraries")
        folder.mkdir(exist_ok=True)
        for library in (pathlib.Path(scratch) / "libraries").iterdir():
            library.replace(folder / library.name)
    return folder


def unpack(wheel, folder):
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for library in LIBRARIES:
            with archive.open(f"nvidia/cudnn/lib/{library}.so.9") as source, open(folder / f"{library}.so.9", "wb") as target:
                while block := source.read(1 << 20):
                    target.write(block)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tidemark.cudnn_fetch", description=__doc__.splitlines()[0])
    parser.add_argument("--cuda", help="major version of the CUDA that torch was built for (default: ask torch's metadata)")
    parser.add_argument("--version", help="the package's full version, such as 9.1.0.70 (default: the nearest to torch's own)")
    options = parser.parse_args(arguments)
    pin = torch_pin()
    cuda_major = options.cuda or (pin and pin[0])
    version = options.version or (pin and version_to_fetch(pin[1]))
    if not cuda_major or not version:
        parser.error("torch names no cuDNN here; give --cuda and --version")
    print(fetch(cuda_major, version))


if __name__ == "__main__":
    main()
