"""Where Tidemark's own files lie: beside this package as installed, or in a build."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# PREFIX/share/tidemark/python/tidemark, or a wheel's PREFIX/lib/python3.x/site-packages/tidemark
_PREFIX = _PACKAGE.parents[3]


def launcher():
    """The command: TIDEMARK_BIN; beside this package, as installed; on the PATH."""
    chosen = os.environ.get("TIDEMARK_BIN")
    if chosen:
        if not shutil.which(chosen):
            raise ValueError(f"TIDEMARK_BIN is not a program: {chosen}")
        return chosen
    installed = _PREFIX / "bin" / "tidemark"
    found = str(installed) if os.access(installed, os.X_OK) else shutil.which("tidemark")
    if not found:
        raise ValueError("the tidemark launcher was not found: put it on the PATH, or its path into TIDEMARK_BIN")
    return found


def libraries():
    """Where libtidemark_core.so may be: as installed, then in the build that TIDEMARK_BIN is of."""
    name = "libtidemark_core.so"
    chosen = os.environ.get("TIDEMARK_BIN")
    build = [str(Path(shutil.which(chosen) or chosen).resolve().parents[2] / "bindings/c" / name)] if chosen and len(Path(chosen).resolve().parents) > 2 else []
    return [*build, str(_PREFIX / "lib/tidemark" / name)]


def data(library):
    """The folder of gpus.json that goes with a library."""
    installed = Path(library).resolve().parents[1].parent / "share/tidemark/data"
    return str(installed if installed.is_dir() else _PACKAGE.parents[1] / "data")
