"""The capture itself, in a process on the virtual GPU: `python -m tidemark.capture.inside REQUEST` (a JSON file that __main__.py writes)."""

import json
import os
import sys

os.environ.setdefault("PYTORCH_JIT", "0")  # scripted functions are Python ones
os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # compiled ones too


def header_of(model, padded, weights=None):
    import torch
    import transformers

    from .experts import chooses
    from .told import told_of

    config = getattr(model, "config", None)
    yield "tidemark-program", "1"
    if config is not None:
        yield "model_type", config.model_type
    yield "class", type(model).__name__
    yield from told_of(model)
    yield "transformers", transformers.__version__
    yield "torch", torch.__version__.partition("+")[0]
    if config is not None:
        # What is asked for goes to parts that can; a text that is not made, as of a tower that classifies images, has none.
        own = config.get_text_config()._attn_implementation or config._attn_implementation
        parts = {name: getattr(getattr(config, name, None), "_attn_implementation", own) for name in getattr(config, "sub_configs", {})}
        yield "attention", " ".join([str(own), *(f"{name}={how}" for name, how in parts.items() if how != own and how is not None)])
        experts = getattr(config.get_text_config(), "_experts_implementation", None)
        if experts and chooses(model):
            yield "experts", experts
        if hasattr(config.get_text_config(), "use_cache"):
            yield "cache", str(bool(config.get_text_config().use_cache)).lower()
    yield "padding", str(bool(padded)).lower()
    yield "training", "true"
    yield "device", "cuda"
    yield "T", "bfloat16"
    if weights is not None:
        yield "weights", weights


def run(request):
    import transformers

    from . import batches, models
    from .points import points_from
    from .program import program

    transformers.logging.set_verbosity_error()
    source = models.find(request)
    shape = batches.Shape(
        request["batch"], request["seq"] or 0, request["images"], image_size=tuple(request["image_size"]) if request["image_size"] else None, target=request.get("target_seq") or 0, audio_seconds=request.get("audio_seconds") or 0
    )
    return program(source, "cuda", lambda model: points_from(shape, model), lambda model: header_of(model, request["padded"], source.weights), autocast=request.get("autocast"))


def main(path):
    from .mistakes import Mistake

    with open(path) as file:
        request = json.load(file)
    try:
        answer = {"text": run(request)}
    except Mistake as mistake:
        answer = {"error": str(mistake), "exit_code": mistake.exit_code}
    with open(request["answer"], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # without the report of a run, which nobody reads: of a large model it takes a minute
