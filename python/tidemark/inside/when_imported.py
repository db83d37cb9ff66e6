"""Runs our part right after `import torch` (and the parts of transformers and diffusers that load models), wherever in the program that is."""

import importlib.abc
import importlib.machinery
import sys


class _AfterImport(importlib.abc.MetaPathFinder):
    """A finder that finds nothing itself: it lets the real loader load a module, then calls back once.

    Many programs ask whether a module exists (`importlib.util.find_spec`) long before they import it.
    """

    def __init__(self, callbacks):
        self.callbacks = callbacks

    def find_spec(self, name, path=None, target=None):
        if name not in self.callbacks:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        real_exec = spec.loader.exec_module

        def exec_module(module):
            real_exec(module)
            callback = self.callbacks.pop(name, None)
            if callback is not None:
                callback()

        spec.loader.exec_module = exec_module
        return spec


def arm():
    """Call once, at interpreter start, before anything is imported."""
    from . import progress, session, world

    callbacks = {"torch": session.torch_was_imported, "transformers.modeling_utils": session.transformers_was_imported, "transformers.generation.utils": session.generation_was_imported, "diffusers.models.modeling_utils": session.diffusers_was_imported, "deepspeed.runtime.engine": session.deepspeed_was_imported, "torch._dynamo.callback": progress.callbacks_were_imported}
    if world.ranks > 1:
        from . import alone

        callbacks["torch.distributed.distributed_c10d"] = alone.distributed_was_imported
    sys.meta_path.insert(0, _AfterImport(callbacks))
