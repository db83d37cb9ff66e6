"""vLLM 0.33.0: the figures that its worker and its engine core have as attributes, at the moments at which they have them."""

import contextlib
import functools
import glob
import os
import sys
import threading
import time

from .. import losses, marks, relied_on
from . import notes
from .block import terms


def worker_was_imported():
    relied_on.enable("vllm_memory", _watch_worker)


def core_was_imported():
    relied_on.enable("vllm_engine", _watch_core)


def processes_were_imported():
    relied_on.enable("vllm_processes", _watch_shutdown)


def _watch_worker():
    from vllm.v1.worker.gpu_worker import Worker

    _after(Worker, "init_device", lambda worker, _: _report_when_asked())
    _after(Worker, "determine_available_memory", lambda worker, _: _note_profile(worker))
    _after(Worker, "initialize_from_config", _note_cache)
    real = Worker.compile_or_warm_up_model

    @functools.wraps(real)
    def compile_or_warm_up_model(self, *args, **kwargs):
        with _capture_noted(self.model_runner):
            return real(self, *args, **kwargs)

    Worker.compile_or_warm_up_model = compile_or_warm_up_model


def _after(kind, name, note):
    """Calls note(object, positional arguments) when the method has returned."""
    real = getattr(kind, name)

    @functools.wraps(real)
    def method(self, *args, **kwargs):
        result = real(self, *args, **kwargs)
        note(self, args)
        return result

    setattr(kind, name, method)


class _capture_noted:
    """Meanwhile `capture_model` tells the bytes that CUDA graphs took."""

    def __init__(self, runner):
        self.runner = runner

    def __enter__(self):
        real = self.runner.capture_model

        def capture_model(*args, **kwargs):
            took = real(*args, **kwargs)
            if isinstance(took, int):
                terms["CUDA graphs"] = max(0, took)
            return took

        self.runner.capture_model = capture_model

    def __exit__(self, *error):
        del self.runner.capture_model


@losses.guarded("the terms of vLLM's memory are missing")
def _note_profile(worker):
    """`peak_activation_memory` includes the estimate of graphs where that is subtracted (vllm: v1/worker/gpu_worker.py, 0.33.0)."""
    from vllm import envs

    estimate = int(getattr(worker, "cudagraph_memory_estimate", 0) or 0)
    subtracted = estimate if getattr(envs, "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", False) else 0
    weights = int(getattr(worker.model_runner, "model_memory_usage", 0))
    consumed = getattr(worker, "total_consumed", None)
    activation = getattr(worker, "peak_activation_memory", None)
    if hasattr(worker, "requested_memory"):
        terms["requested"] = int(worker.requested_memory)
    if weights:
        terms["weights"] = weights
    if consumed is not None and consumed >= weights:
        terms["non-torch and fragments"] = int(consumed) - weights
    if activation is not None:
        terms["peak activation"] = int(activation) - subtracted
    if estimate:
        terms["CUDA graphs, estimated"] = estimate
    if hasattr(worker, "available_kv_cache_memory_bytes"):
        terms["left for the KV cache"] = max(0, int(worker.available_kv_cache_memory_bytes))


@losses.guarded("the KV cache counts as activations")
def _note_cache(worker, args):
    terms["KV cache"] = sum(int(tensor.size) for tensor in args[0].kv_cache_tensors)
    marks.mark(marks.KV_CACHE, ((tensor, 0) for tensor in _tensors(worker.model_runner.kv_caches)))


def _tensors(value):
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
    else:
        yield value


def _watch_core():
    from vllm.v1.engine.core import EngineCore

    real = EngineCore.__init__

    @functools.wraps(real)
    def init(self, vllm_config, *args, **kwargs):
        try:
            real(self, vllm_config, *args, **kwargs)
        except Exception as error:
            _note_refusal(error)
            raise
        _note_engine(vllm_config)

    EngineCore.__init__ = init


@losses.guarded("the size of vLLM's cache in tokens is missing")
def _note_engine(config):
    cache, scheduler, length = config.cache_config, config.scheduler_config, config.model_config.max_model_len
    blocks = cache.num_gpu_blocks or 0
    tokens = getattr(cache, "kv_cache_size_tokens", None) or blocks * cache.block_size
    concurrency = getattr(cache, "kv_cache_max_concurrency", None) or tokens / length
    _tell(kv_cache={"bytes": terms.get("KV cache", 0), "blocks": blocks, "block_tokens": cache.block_size, "tokens": tokens, "length": length, "concurrency": concurrency, "most_sequences": scheduler.max_num_seqs})


@losses.guarded("the reason for which vLLM did not start is missing")
def _note_refusal(error):
    """An out-of-memory error of PyTorch's is in the report already."""
    session = _session()
    session.failed(error)
    if type(error).__name__ != "OutOfMemoryError":
        message = " ".join(str(error).split()) or type(error).__name__
        _tell(refusal={"message": message, "for_memory": "memory" in message.lower()})


def _tell(**facts):
    import vllm

    notes.write(_session().run_dir, notes.ENGINE, {"engine": "vLLM", "version": vllm.__version__, **facts})


def _session():
    return sys.modules["tidemark.inside.session"].session


def _report_when_asked():
    """A server has no end at which a process could write its report, so a thread waits for the word."""
    threading.Thread(target=_wait_and_report, name="tidemark", daemon=True).start()


def _wait_and_report():
    session = _session()
    mine = f"{notes.ASKED}-{os.getpid()}"
    while not (notes.exists(session.run_dir, notes.ASKED) or notes.exists(session.run_dir, mine)):
        time.sleep(notes.LOOK_AGAIN_S)
    session.finish()


def _watch_shutdown():
    """Engines that a script has made are killed some seconds after they were asked to end: their reports come first."""
    from vllm.v1.engine import utils

    real = utils.shutdown

    @functools.wraps(real)
    def shutdown(processes, *args, **kwargs):
        run_dir = os.environ["TIDEMARK_RUN_DIR"]
        pids = _with_descendants({process.pid for process in processes if process.is_alive()})
        if os.path.isdir(run_dir):
            for pid in pids:
                notes.write(run_dir, f"{notes.ASKED}-{pid}", {})
            notes.wait_for_reports(run_dir, pids)
        return real(processes, *args, **kwargs)

    utils.shutdown = shutdown


def _with_descendants(pids):
    found, frontier = set(), set(pids)
    while frontier:
        found |= frontier
        frontier = {child for pid in frontier for child in _children(pid)} - found
    return found


def _children(pid):
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path) as file:
            yield from map(int, file.read().split())
