"""Keys that a configuration class takes and does not write as it takes them: it writes what they make of some layers, by the numbers of those (transformers 5.23.0: configuration_gemma4.py,
Gemma4TextConfig.__post_init__; heterogeneity takes `per_layer_config`), or one number as often as there are layers (configuration_gemma3n.py, Gemma3nTextConfig.intermediate_size).  A program follows the keys, as published files have them."""

import ast
import dataclasses
import inspect
import re

LAYERS = "per_layer_config"
_POPPED = re.compile(r'kwargs\.pop\("(\w+)", (\w+)\)')


def keys_of(config, given):
    """What the class writes, with what it takes in place of layers by number."""
    made = config.to_dict()
    _put_back(config, given, made)
    return made


def paths_of(config, prefix=""):
    """The paths of keys that are not written, and those of what is in place of them."""
    taken = _taken(type(config))
    yield from ((prefix + key, prefix + LAYERS) for key in taken)
    for name, part in _parts(config):
        yield from paths_of(part, f"{prefix}{name}.")


def _put_back(config, given, made):
    taken = _taken(type(config))
    if taken:
        made.pop(LAYERS, None)
        made.update({key: given.get(key, default) for key, default in taken.items()})
    made.update({key: made[key][0] for key in _repeated(type(config)) if _is_repeated(made.get(key), made.get("num_hidden_layers"))})
    for name, part in _parts(config):
        if isinstance(made.get(name), dict):
            _put_back(part, given.get(name) or {}, made[name])


def _repeated(config_class):
    """Keys that are a number by default, and may be a list of such."""
    fields = dataclasses.fields(config_class) if dataclasses.is_dataclass(config_class) else ()
    return [field.name for field in fields if isinstance(field.default, int) and re.search(r"\blist\[int\]", str(field.type))]


def _is_repeated(entries, layers):
    return isinstance(entries, (list, tuple)) and len(entries) == layers and len({*entries}) == 1


def _parts(config):
    return [(name, getattr(config, name)) for name in getattr(config, "sub_configs", None) or {} if hasattr(getattr(config, name, None), "to_dict")]


def _taken(config_class):
    """{key: its default} of a class that makes layers' own keys of others."""
    source = inspect.getsource(vars(config_class)["__post_init__"]) if "__post_init__" in vars(config_class) else ""
    return {key: ast.literal_eval(default) for key, default in _POPPED.findall(source)} if f'"{LAYERS}" not in kwargs' in source else {}
