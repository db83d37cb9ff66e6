"""An engine in a separate process, which is killed when the script ends."""

import multiprocessing

import torch  # noqa: F401  (as vLLM has it)
from server import engine
from vllm.v1.engine.utils import shutdown

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    process = context.Process(target=engine, args=(4096, started))
    process.start()
    started.wait()
    shutdown([process])
    print("the script goes on", flush=True)
