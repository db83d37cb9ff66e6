"""Tidemark: how high GPU memory will rise, before a GPU is rented.

import tidemark
report = tidemark.predict("config.json", batch=16, seq=1024, gpu="h100-80gb")         # from a configuration, in this process
report = tidemark.run(script="train.py", arguments=["--batch", "16"], gpu="h100-80gb")   # a program, on a virtual GPU
print(report.verdict, report.peak.allocated_bytes)

plan = tidemark.plan("llama-3.1-8b/", batch=8, seq=4096, gpu="h100-80gbx8")
model = tidemark.apply(model, "plan.json")   # the checkpointing that `tidemark plan --checkpointing-under` has answered
"""

# Where each name lies.  Looked up on first use: `tidemark run` puts this package into the user's process, which should not pay for what it does not use.
_PLACES = {
    "Error": "errors",
    "Plan": "reports",
    "ProgramFailed": "api",
    "Progress": "reports",
    "Report": "reports",
    "apply": "checkpointing",
    "gpus": "predicting",
    "models": "predicting",
    "options": "predicting",
    "plan": "predicting",
    "predict": "predicting",
    "run": "api",
}
__all__ = list(_PLACES)


def __getattr__(name):
    if name == "__version__":
        from . import core

        return core.version()
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(f".{_PLACES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_PLACES])
