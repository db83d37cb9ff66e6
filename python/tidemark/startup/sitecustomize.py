"""Found by the interpreter at start-up because `tidemark run` puts this folder first on PYTHONPATH.

Arms the import of torch, then runs the sitecustomize that the environment would have found without us.
"""

import gc
import os
import sys
from _frozen_importlib import module_from_spec  # importlib.util's and importlib.machinery's, which the program may never import
from _frozen_importlib_external import PathFinder

_here = os.path.dirname(os.path.abspath(__file__))


def _run_the_next_sitecustomize():
    others = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)


def _arm():
    before = gc.get_count()
    gc.disable()
    from tidemark.inside import when_imported, world

    world.settle()
    when_imported.arm(world.ranks)
    when_imported.put_back(before)
    gc.enable()


if os.environ.get("TIDEMARK_RUN_DIR"):
    _arm()

_run_the_next_sitecustomize()
