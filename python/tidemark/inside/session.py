"""One observed process, from `import torch` to the report.

Order: torch is imported → integers are kept true on every thread, steps and modules are watched → CUDA initialises → the allocator
is watched → … the program runs … → the step limit is reached, or the program ends → the report is written.
"""

import atexit
import contextlib
import ctypes
import os
import sys
import threading
import time
import traceback

from . import door, leaving, modules, steps, tracebacks, world


class Session:
    """State of the observed process.  There is one, made by `torch_was_imported`."""

    def __init__(self):
        self.run_dir = os.environ["TIDEMARK_RUN_DIR"]
        self.pid = os.getpid()
        self.started = time.time()
        self.cuda_used = False
        self.failure = None          # the exception that ended the program, if one did
        self.finished = False

    def failed(self, error):
        self.failure = error

    def finish(self, stopped_after_steps=None):
        """Writes this process's report.  Does nothing in forked children, without CUDA, or the second time."""
        if self.finished or os.getpid() != self.pid or not self.cuda_used:
            return
        self.finished = True
        if self.failure is None:   # a program that put its own sys.excepthook in place of ours
            self.failure = getattr(sys, "last_value", None)
        from . import report

        try:
            with leaving.undisturbed():
                report.write(self, stopped_after_steps)
            ctypes.CDLL(None).tidemark_let_watchdogs_finish()   # with the GIL released: they may need it
        except Exception:   # a bug of ours must not change how the program ends; the launcher tells
            with open(os.path.join(self.run_dir, f"failure-{self.pid}.txt"), "w") as file:
                traceback.print_exc(file=file)


session = None


def torch_was_imported():
    global session
    import torch

    if not torch.version.cuda or session is not None:
        return
    session = Session()
    library = door.library()
    library.tidemark_start_counting_host_memory()
    keys = torch._C._dispatch_tls_local_include_set()
    library.tidemark_keep_integers_true(True)
    _let_higher_order_operators_pass(torch, torch._C._dispatch_tls_local_include_set() - keys)
    _keep_integers_true_in_threads(library)
    library.tidemark_set_routing(_routing_skew(os.environ.get("TIDEMARK_MOE_ROUTING", "balanced")))
    modules.watch()
    steps.watch(session)
    torch.cuda._lazy_call(lambda: _cuda_was_initialised(library))
    _watch_empty_cache(torch, library)
    tracebacks.watch(session.failed)
    leaving.watch_exit(session.finish)
    leaving.note_socket_folders(session.run_dir)
    atexit.register(session.finish)


def transformers_was_imported():
    if os.environ.get("TIDEMARK_FAKE_WEIGHTS") == "1":
        from . import fake_weights

        fake_weights.patch_transformers()


def diffusers_was_imported():
    if os.environ.get("TIDEMARK_FAKE_WEIGHTS") == "1":
        from . import fake_weights

        fake_weights.patch_diffusers()


def deepspeed_was_imported():
    from . import deepspeed

    deepspeed.engine_was_imported()


def _cuda_was_initialised(library):
    if session.cuda_used:
        return
    session.cuda_used = True
    session.pid = os.getpid()   # a child that was forked before CUDA began, and begins it, has a report of its own
    with contextlib.suppress(OSError):
        open(os.path.join(session.run_dir, f"card-used-{session.pid}"), "w").close()   # for the launcher, should there be no report
    library.tidemark_start_observing(world.local_rank)


def _let_higher_order_operators_pass(torch, keys):
    """Operators that take functions (checkpoints and attention inside a compiled graph) dispatch in Python, which knows no fallback: they pass over the dispatch key of
    true integers, and the operators within them meet it (torch/_ops.py, HigherOrderOperator.dispatch)."""
    key = keys.highestPriorityTypeId()   # `Fake`, which has no name in Python
    torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.append(key)
    for operator in torch._ops._higher_order_ops.values():
        operator.fallthrough(key)


def _keep_integers_true_in_threads(library):
    """New Python threads start without the dispatch key; threads of the autograd engine inherit it from who calls backward."""
    real_bootstrap = threading.Thread._bootstrap_inner

    def bootstrap(self):
        library.tidemark_keep_integers_true(True)
        real_bootstrap(self)

    threading.Thread._bootstrap_inner = bootstrap


def _watch_empty_cache(torch, library):
    real_empty_cache = torch.cuda.empty_cache

    def empty_cache():
        if session.cuda_used:
            library.tidemark_note_empty_cache()
        real_empty_cache()

    torch.cuda.empty_cache = torch.cuda.memory.empty_cache = empty_cache


def _routing_skew(text):
    """`balanced` → 0; `skewed:X` → X, the share of tokens that choose the first experts."""
    return float(text.split(":", 1)[1]) if text.startswith("skewed:") else 0.0
