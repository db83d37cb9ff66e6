"""One observed process, from `import torch` to the report.

Order: torch is imported → integers are kept true on every thread, steps and modules are watched → CUDA initialises → the allocator
is watched → … the program runs … → the step limit is reached, or the program ends → the report is written.
"""

import atexit
import contextlib
import ctypes
import errno
import os
import sys
import threading
import time
import traceback

from . import counters, door, leaving, losses, modules, relied_on, steps, tracebacks, world


class Session:
    """State of the observed process.  There is one, made by `torch_was_imported`."""

    def __init__(self):
        self.run_dir = os.environ["TIDEMARK_RUN_DIR"]
        self.pid = os.getpid()
        self.started = time.time()
        self.cuda_used = False
        self.told_of_cuda = True  # when CUDA begins, we are called
        self.failure = None  # the exception that ended the program, if one did
        self.finished = False

    def used_cuda(self):
        """If we were not told when CUDA began, it says so itself."""
        torch = sys.modules.get("torch")
        return self.cuda_used or (not self.told_of_cuda and hasattr(torch, "cuda") and torch.cuda.is_initialized())

    def failed(self, error):
        self.failure = error

    def finish(self, stopped_after_steps=None):
        """Writes this process's report.  Does nothing in forked children, without CUDA, or the second time."""
        if self.finished or os.getpid() != self.pid or not self.used_cuda():
            return
        self.finished = True
        if self.failure is None:  # a program that put its own sys.excepthook in place of ours
            self.failure = getattr(sys, "last_value", None)
        from . import report

        try:
            with leaving.undisturbed():
                report.write(self, stopped_after_steps)
                losses.say()
            ctypes.CDLL(None).tidemark_let_watchdogs_finish()  # with the GIL released: they may need it
        except OSError as error:
            if error.errno not in _NO_ROOM:
                self._fail()
            else:
                self._say_no_room(error)
        except Exception:  # a bug of ours must not change how the program ends; the launcher tells
            self._fail()

    def _fail(self):
        with open(os.path.join(self.run_dir, f"failure-{self.pid}.txt"), "w") as file:
            traceback.print_exc(file=file)

    def note_that_cuda_is_used(self):
        """For the launcher, should there be no report; with room for a line, which a full disk has no more."""
        with contextlib.suppress(OSError), open(self._note(), "w") as file:
            file.write("\n" * 512)

    def _say_no_room(self, error):
        with contextlib.suppress(OSError), open(self._note(), "r+") as file:
            file.write(f"the report could not be written: {error.strerror}")

    def _note(self):
        return os.path.join(self.run_dir, f"card-used-{self.pid}")


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
session = None


@losses.guarded("the run is not watched")
def torch_was_imported():
    global session
    import torch

    if not torch.version.cuda or session is not None:
        return
    session = Session()
    library = door.library()
    _read_frames(library)
    library.tidemark_start_counting_host_memory()
    if door.has("integers"):
        _keep_integers_true(torch, library)
    session.told_of_cuda = relied_on.enable("cuda_begins", lambda: torch.cuda._lazy_call(lambda: _cuda_was_initialised(library)))
    if not session.told_of_cuda:
        door.lose("events", "it is not known when CUDA begins")
    if not door.has("events"):
        counters.start()
    modules.watch()
    steps.watch(session)
    if os.environ.get("TIDEMARK_DATA"):
        relied_on.enable("batches_drawn", _draw_batches)
    _watch_empty_cache(torch, library)
    tracebacks.watch(session.failed)
    leaving.watch_exit(session.finish)
    leaving.clean_up_where_a_rank_leaves()
    leaving.watch_children(session.run_dir)
    leaving.note_socket_folders(session.run_dir)
    atexit.register(session.finish)


def _read_frames(library):
    """Three functions of Python, one in the other: by their frames it finds out where such things lie (frame_layout.h)."""

    def outer():
        return inner()

    def inner():
        return library.tidemark_read_frames_as_they_lie()

    outer()


def _draw_batches():
    from .epoch import loaders

    most = os.environ["TIDEMARK_DATA"]
    loaders.watch(int(most) if most.isdigit() else None)


def transformers_was_imported():
    if os.environ.get("TIDEMARK_FAKE_WEIGHTS") == "1":
        from . import fake_weights

        relied_on.enable("transformers_fake_weights", fake_weights.patch_transformers)


def generation_was_imported():
    from . import generation

    generation.generation_was_imported()


def diffusers_was_imported():
    if os.environ.get("TIDEMARK_FAKE_WEIGHTS") == "1":
        from . import fake_weights

        relied_on.enable("diffusers_fake_weights", fake_weights.patch_diffusers)


def deepspeed_was_imported():
    from . import deepspeed

    deepspeed.engine_was_imported()


@losses.guarded("the allocator is not watched")
def _cuda_was_initialised(library):
    if session.cuda_used:
        return
    session.cuda_used = True
    session.pid = os.getpid()  # a child that was forked before CUDA began, and begins it, has a report of its own
    session.note_that_cuda_is_used()
    if not door.has("events"):
        return
    if library.tidemark_start_observing(world.local_rank):
        library.tidemark_start_blaming()
    else:
        door.lose("events", "this allocator of PyTorch's keeps no trace")
        counters.start()


def _keep_integers_true(torch, library):
    if not library.tidemark_start_true_integers():
        return door.lose("integers", f"torch {torch.__version__} does not take a hook on every operation")
    library.tidemark_set_routing(_routing_skew(os.environ.get("TIDEMARK_MOE_ROUTING", "balanced")))
    before = torch._C._dispatch_tls_local_include_set() if relied_on.holds("higher_order_operators") else None
    library.tidemark_keep_integers_true(True)
    if before is not None:
        relied_on.enable("higher_order_operators", lambda: _let_higher_order_operators_pass(torch, torch._C._dispatch_tls_local_include_set() - before))
    relied_on.enable("integers_in_threads", lambda: _keep_integers_true_in_threads(library))


def _let_higher_order_operators_pass(torch, keys):
    """Operators that take functions (checkpoints and attention inside a compiled graph) dispatch in Python, which knows no fallback: they pass over the dispatch key of
    true integers, and the operators within them meet it (torch/_ops.py, HigherOrderOperator.dispatch)."""
    key = keys.highestPriorityTypeId()  # `Fake`, which has no name in Python
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
