"""Has a program captured in a process of its own, on the virtual GPU, or finds it where it was kept."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from ..places import launcher
from .mistakes import Mistake, Unsupported

_CARD = ("--gpu", "h100-80gb", "--memory", "1000TB")  # a card on which any model fits; nothing of it is there


def ask(request, fresh=False):
    """The program's text."""
    _check(request["source"])
    place = _place(request)
    if place is not None and place.exists() and not fresh:
        return place.read_text()
    text = _captured(request)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        kept = tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False)
        with kept:
            kept.write(text)
        os.replace(kept.name, place)
    return text


def _check(source):
    """What needs no torch to be seen."""
    path = source.rpartition(":")[0] if ".py:" in source else source
    if path.endswith((".json", ".py")) and not os.path.exists(path):
        raise Mistake(f"{path}: no such file")
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "config.json")):
        raise Mistake(f"{path}: no config.json in it")


def _place(request):
    """Where the program is kept: by all that decides it.  A module of the user's own may import anything, so it is captured each time."""
    if ".py:" in request["source"]:
        return None
    versions = {}
    for name in ("torch", "transformers"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise Unsupported(f"{name} is not installed for {sys.executable}: a model is captured where torch and transformers are") from None
    digest = hashlib.sha256(json.dumps([request, versions, sys.executable], sort_keys=True).encode())
    config = Path(request["source"])
    if config.is_dir():
        config = config / "config.json"
    if config.is_file():
        digest.update(config.read_bytes())
    for part in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(part.read_bytes())
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "tidemark", "programs", digest.hexdigest()[:32] + ".txt")


def _captured(request):
    try:
        command = launcher()
    except ValueError as error:
        raise Mistake(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        asked, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        asked.write_text(json.dumps({**request, "answer": str(answer)}))
        done = subprocess.run(
            [command, "run", *_CARD, "--quiet", "--", sys.executable, "-m", "tidemark.capture.inside", str(asked)], stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}
        )  # which kind of layers is first in a set (transformers 5.23.0: modeling_gemma4.py, unique_layer_types) is chance
        if not answer.exists():
            raise Unsupported(f"{request['source']}: {_last_error(done)}")
        result = json.loads(answer.read_text())
    if "error" in result:
        raise (Unsupported if result["exit_code"] == Unsupported.exit_code else Mistake)(result["error"])
    return result["text"]


def _last_error(done):
    """The exception that ended the program, or what the launcher said."""
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith((" ", "Traceback"))]
    lines = [f"{line}{after}" if line.endswith("Error: ") else line for line, after in zip(lines, [*lines[1:], ""])]  # transformers begins a line behind it where a package is missing (utils/import_utils.py, requires_backends)
    errors = [line for line in lines if "Error" in line.partition(":")[0] or "Exception" in line.partition(":")[0]]
    return f"the model did not run: {(errors or lines or ['no word of why'])[-1]}"
