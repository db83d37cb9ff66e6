"""From whatever stands for a model to the question that the library is asked."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import math
import os
import re
import sys
from collections.abc import Mapping

from . import errors


class Asked:
    """`question` for the library; `model` is what the command would be given in its place, a path or a hub's name, where it is one."""

    def __init__(self, spec, offline=False):
        self.question = {"spec": spec, "sources": {}}
        self.model, self.offline = None, offline
        self.is_elsewhere = False  # not in a file: the hub, or a path that only the command can say what is wrong with

    @property
    def spec(self):
        return self.question["spec"]


def read(model, options, offline):
    """Raises Error.  What an option says wins over what the model says of itself."""
    asked = Asked(_keys(options), offline)
    if isinstance(model, (str, os.PathLike)):
        _take_path(asked, os.fspath(model))
    elif isinstance(model, Mapping):
        asked.spec["model"] = _plain(model)
    elif hasattr(model, "to_json_string") and hasattr(model, "to_diff_dict"):
        _take_config(asked, model, {})
    elif "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module):
        _take_module(asked, model)
    else:
        raise errors.Error("bad_value", f"{type(model).__name__} is nothing that a model can be known from", "config", "a path, a name on the hub, a dict, a PretrainedConfig, or a module with such a config")
    _take_card(asked)
    _take_versions(asked)
    return asked


def is_own_module(model):
    """Whether it is a module that no configuration of transformers tells of."""
    return "torch" in sys.modules and isinstance(model, sys.modules["torch"].nn.Module) and not hasattr(getattr(model, "config", None), "to_json_string")


def read_own(module, options):
    """As `read`, of such a module: what stands for the model is its program."""
    from . import own_modules

    asked = Asked(_keys(options))
    own = own_modules.dtype_of(module)
    if asked.spec.setdefault("dtype", own) != own:
        raise errors.Error("bad_value", f"the module's weights are of {own}", "dtype")
    _take_versions(asked)
    return asked


# Short forms of keys, {key: {value: what it stands for}}; None leaves the key out.  "nf4" is as `method="qlora"` has it.
_SHORT = {
    "lora": {True: {}, False: None},
    "checkpointing": {True: "non_reentrant", False: "none"},
    "quantization": {
        "nf4": {"quant_type": "nf4", "use_double_quant": True, "compute_dtype": "bf16"},
        "fp4": {"quant_type": "fp4"},
        "int8": {"load_in_8bit": True},
        False: None,
    },
}


def _keys(options):
    """Options as keys of a spec."""
    long = {key: _SHORT.get(key, {}).get(value, value) if isinstance(value, (bool, str)) else value for key, value in options.items()}
    return {key: _plain(value) for key, value in long.items() if value is not None}


def _plain(value):
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in (value if isinstance(value, (list, tuple)) else sorted(value))]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None  # as in a config.json, where Python writes Infinity, which JSON does not have
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)  # a dtype, an enum's name


def _take_path(asked, path):
    asked.model = path
    file = os.path.join(path, "config.json") if os.path.isdir(path) else path
    try:
        with open(file, encoding="utf-8", newline="") as opened:
            text = opened.read()
    except (OSError, UnicodeDecodeError):
        asked.is_elsewhere = True  # the command says what is wrong with it
        return
    if not _is_configuration(text):
        asked.is_elsewhere = True  # a trainer's own file, perhaps
        return
    asked.question["config"] = {"text": text, "file": file}
    if asked.spec.get("generate"):
        _take_generation_config(asked, os.path.join(os.path.dirname(file), "generation_config.json"))


def _take_generation_config(asked, beside):
    """The file that the spec names, or the one beside config.json."""
    named = asked.spec.get("generation_config")
    if isinstance(named, Mapping) or (named is None and not os.path.exists(beside)):
        return
    try:
        with open(named or beside, encoding="utf-8") as opened:
            asked.spec["generation_config"] = json.load(opened)
    except (OSError, ValueError):
        asked.is_elsewhere = True  # the command says what is wrong with it


def _is_configuration(text):
    return re.search(r'"model_type"\s*:', text) is not None


def _take_config(asked, config, said):
    keys = json.loads(config.to_json_string())  # what save_pretrained writes
    keys = {**keys, **{key: value for key, value in said.items() if not keys.get(key)}}
    asked.question["config"] = {"text": json.dumps(keys, indent=2), "file": type(config).__name__}


def _take_module(asked, module):
    """A module says, with its configuration, what it is for, its weights' type and its attention."""
    config = module.config
    _take_config(asked, config, {"architectures": [type(module).__name__]})
    spec = asked.spec
    types = {str(weight.dtype).removeprefix("torch.") for weight in module.parameters() if weight.is_floating_point()}
    known = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
    if "dtype" not in spec:
        if len(types) != 1 or not types <= set(known):
            raise errors.Error("bad_value", f"the module's weights are of {' and '.join(sorted(types)) or 'no type'}", "config", "say dtype: bf16, fp16 or fp32")
        spec["dtype"] = known[types.pop()]
    attention = getattr(config, "_attn_implementation", None)
    if "attn" not in spec and attention is not None:
        if attention not in ("sdpa", "eager"):
            raise errors.Error("unsupported", f"the module's attention is {attention}", "config", "say attn: sdpa or eager")
        spec["attn"] = attention
    frozen = [name for name, weight in module.named_parameters() if not weight.requires_grad]
    if frozen and not spec.keys() & {"freeze", "train_only", "lora"}:
        raise errors.Error("bad_value", f"{len(frozen)} of the module's parameters are not trained, {frozen[0]} first", "config", "say which, by freeze or train_only")
    if getattr(module, "is_gradient_checkpointing", False) and "checkpointing" not in spec:
        raise errors.Error("bad_value", "the module's layers are checkpointed", "config", "say how, by checkpointing: reentrant or non_reentrant")


def _take_card(asked):
    """A card that a file describes."""
    gpu = asked.spec.get("gpu")
    if not (isinstance(gpu, str) and (gpu.endswith(".json") or "/" in gpu)):
        return
    try:
        with open(gpu, encoding="utf-8") as opened:
            asked.question["card"] = json.load(opened)
    except (OSError, ValueError):
        asked.is_elsewhere = True  # the command says what is wrong with it


def _take_versions(asked):
    """Of what is not said, this interpreter's versions count, else the newest that are known."""
    for package in ("torch", "transformers"):
        version = _version(package)
        if package not in asked.spec and version:
            asked.spec[package] = version
            asked.question["sources"][package] = f"of {sys.prefix}"


@functools.lru_cache(maxsize=4)
def _version(package):
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    return version if re.match(r"\d+\.\d+", version) else None
