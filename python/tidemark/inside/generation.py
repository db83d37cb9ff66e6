"""Text that transformers generates: which of the tokens that are drawn end it is decided, since no score is known (`--generate-length`)."""

import ctypes
import functools
import os

from . import door, losses, relied_on


def generation_was_imported():
    if door.has("integers"):
        relied_on.enable("generated_text", _watch_generate)


def _watch_generate():
    from transformers.generation.utils import GenerationMixin

    real_generate = GenerationMixin.generate

    @functools.wraps(real_generate)
    def generate(self, *args, **kwargs):
        begun = _begin(self, args, kwargs)
        try:
            return real_generate(self, *args, **kwargs)
        finally:
            if begun:
                door.library().tidemark_generation_ends()

    GenerationMixin.generate = generate


@losses.guarded("text that is generated may end at its first token")
def _begin(model, args, kwargs):
    """`generate(inputs, generation_config, …, **changes of it)`: what any of the configurations calls an end or a filler is one."""
    given = kwargs.get("generation_config", args[1] if len(args) > 1 else None)
    ends, fillers = [], []
    for source in (kwargs, given, getattr(model, "generation_config", None), model.config):
        ends += _tokens(source, "eos_token_id")
        fillers += _tokens(source, "pad_token_id")
    wanted = os.environ.get("TIDEMARK_GENERATE_LENGTH", "full")
    never = (ctypes.c_int64 * len(ends + fillers))(*ends, *fillers)
    door.library().tidemark_generation_begins(_vocabulary(model), ends[0] if ends else -1, int(wanted) if wanted.isdigit() else 0, never, len(never))
    return True


def _tokens(source, name):
    value = source.get(name) if isinstance(source, dict) else getattr(source, name, None)
    values = value if isinstance(value, (list, tuple)) else [value]
    return [token for token in values if isinstance(token, int)]


def _vocabulary(model):
    return getattr(model.config.get_text_config(decoder=True), "vocab_size", None) or 0
