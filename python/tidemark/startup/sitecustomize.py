"""Found by the interpreter at start-up because `tidemark run` puts this folder first on PYTHONPATH.

Arms the import of torch, then runs the sitecustomize that the environment would have found without us.
"""

import importlib.machinery
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _run_the_next_sitecustomize():
    others = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if os.environ.get("TIDEMARK_RUN_DIR"):
    from tidemark.inside import when_imported, world

    world.settle()
    when_imported.arm()

import importlib.util  # noqa: E402  (needed by the line below only)

_run_the_next_sitecustomize()
