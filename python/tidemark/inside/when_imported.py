"""Runs our part right after `import torch` (and the parts of transformers and diffusers that load models), wherever in the program that is.

Until torch is there nothing is imported that the interpreter does not have at its start: what the program imports, and when, is the program's own.
"""

import gc
import sys
from _frozen_importlib_external import PathFinder  # importlib.machinery's

_find_spec = PathFinder.find_spec
_callbacks = {}
containers = 0  # that were made for this before torch was there (collector.py)


def put_back(counts):
    """The collector counts as it did, before anything of the program has run; by its own interface, for want of a better one until torch is there."""
    gc.freeze()
    gc.unfreeze()  # all counts are 0
    for _ in range(counts[2]):
        gc.collect(1)
    for _ in range(counts[1]):
        gc.collect(0)
    while gc.get_count()[0] < counts[0]:
        _ballast.append(set())


_ballast = []


def note_containers(before):
    """Those made since the collector's count was `before`; it has not run since.  What is beyond its threshold is forgotten when it does, at once."""
    global containers
    now = gc.get_count()[0]
    containers += max(0, now - before - max(0, now - gc.get_threshold()[0]))


def _torch_was_imported():
    """From here on the collector's count can be set."""
    enabled, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    from . import collector, session

    collector.find(containers + max(0, gc.get_count()[0] - before))
    session.torch_was_imported()
    if enabled:
        gc.enable()


def _session_was_told(what):
    from . import session

    getattr(session, what)()


def _compiling_may_begin():
    from . import compiling, progress, relied_on

    progress.callbacks_were_imported()
    relied_on.enable("graphs_compiled", compiling.watch_graphs)


def _kernels_may_be_tuned():
    from . import compiling, relied_on

    relied_on.enable("kernels_tuned", compiling.watch_tuning)


def _serving_was_told(module, what):
    from . import serving

    __import__(f"{serving.__name__}.{module}")
    getattr(getattr(serving, module), what)()


def _stages_were_told(what):
    from . import stages

    getattr(stages, what)()


def _distributed_was_imported():
    from . import alone

    alone.distributed_was_imported()


def _uncounted(work):
    """What our own modules are made of is not the program's: it counts for nothing, at the latest when torch is there."""
    enabled, before = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        work()
        collector = sys.modules.get("tidemark.inside.collector")
        if collector is not None and collector.known:
            collector.count.value = before
        else:
            note_containers(before)
    finally:
        if enabled:
            gc.enable()


class _AfterImport(PathFinder):
    """Finds what the finder finds in whose place it is, and calls back once when a module of ours to watch has been loaded.

    Many programs ask whether a module exists (`importlib.util.find_spec`) long before they import it.
    """

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        spec = _find_spec(fullname, path, target)
        if fullname in _callbacks and spec is not None and spec.loader is not None:
            _uncounted(lambda: _watch(spec.loader, fullname))
        return spec


def _watch(loader, name):
    real_exec = loader.exec_module

    def exec_module(module):
        real_exec(module)
        if callback := _callbacks.pop(name, None):
            callback()

    loader.exec_module = exec_module


def arm(ranks):
    """Call once, at interpreter start, before anything is imported."""
    _callbacks.update(
        {
            "torch": _torch_was_imported,
            "transformers.modeling_utils": lambda: _uncounted(lambda: _session_was_told("transformers_was_imported")),
            "transformers.generation.utils": lambda: _uncounted(lambda: _session_was_told("generation_was_imported")),
            "diffusers.models.modeling_utils": lambda: _uncounted(lambda: _session_was_told("diffusers_was_imported")),
            "deepspeed.runtime.engine": lambda: _uncounted(lambda: _session_was_told("deepspeed_was_imported")),
            "vllm.v1.worker.gpu_worker": lambda: _uncounted(lambda: _serving_was_told("vllm_engine", "worker_was_imported")),
            "vllm.v1.engine.core": lambda: _uncounted(lambda: _serving_was_told("vllm_engine", "core_was_imported")),
            "vllm.v1.engine.utils": lambda: _uncounted(lambda: _serving_was_told("vllm_engine", "processes_were_imported")),
            "trl.extras.profiling": lambda: _uncounted(lambda: _stages_were_told("trl_was_imported")),
            "trl.trainer.grpo_trainer": lambda: _uncounted(lambda: _stages_were_told("grpo_was_imported")),
            "uvicorn.server": lambda: _uncounted(lambda: _serving_was_told("server", "uvicorn_was_imported")),
            "torch._dynamo.callback": lambda: _uncounted(_compiling_may_begin),
            "torch._inductor.runtime.triton_heuristics": lambda: _uncounted(_kernels_may_be_tuned),
        }
    )
    if ranks > 1:
        _callbacks["torch.distributed.distributed_c10d"] = lambda: _uncounted(_distributed_was_imported)
    sys.meta_path[sys.meta_path.index(PathFinder)] = _AfterImport
