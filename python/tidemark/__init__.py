"""Tidemark: how high GPU memory will rise, before a GPU is rented.

    import tidemark
    report = tidemark.run(script="train.py", arguments=["--batch", "16"], gpu="h100-80gb")
    print(report.verdict, report.peak.allocated_bytes)

    model = tidemark.apply(model, "plan.json")   # the checkpointing that `tidemark plan --checkpointing-under` has answered
"""

__all__ = ["ProgramFailed", "Report", "apply", "run"]


def __getattr__(name):
    # Looked up on first use: `tidemark run` puts this package into the user's process, which should not pay for what it does not use.
    if name == "apply":
        from . import checkpointing

        return checkpointing.apply
    if name in __all__:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
