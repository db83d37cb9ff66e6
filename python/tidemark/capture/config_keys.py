"""Which keys of a config.json transformers reads, class by class.

A key is read when the configuration class has a field of that name or another name for one (attribute_map), when a __post_init__ (before transformers 5 __init__) takes it out of what else
the file says, or when the code that runs the model asks the configuration for it.  Any other key becomes an attribute that nothing looks at.
"""

import ast
import dataclasses
import inspect
import pathlib
import re

import transformers
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

PACKAGE = pathlib.Path(transformers.__file__).parent
# What every family goes through, and asks a configuration for keys that its class may not have.
SHARED = ["cache_utils.py", "masking_utils.py", "modeling_utils.py", "utils/generic.py"]
ROTARY = {"rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor"}  # modeling_rope_utils.RotaryEmbeddingConfigMixin


def is_config(node):
    return isinstance(node, ast.Name) and node.id == "config" or isinstance(node, ast.Attribute) and node.attr == "config"


def asked_for(tree):
    """NAME of config.NAME, self.config.NAME, getattr(config, "NAME", …) and hasattr."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_config(node.value) and isinstance(node.ctx, ast.Load):
            yield node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            if is_config(node.args[0]) and isinstance(node.args[1], ast.Constant):
                yield node.args[1].value


def config_classes(node, known):
    """The configuration classes that a class or a function says its `config` is; all of the file when it does not say."""
    said = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg) and inner.arg == "config" and inner.annotation or isinstance(inner, ast.AnnAssign) and ast.unparse(inner.target) == "config":
            said |= {name for name in known if re.search(rf"\b{name}\b", ast.unparse(inner.annotation))}
    return said or set(known)


def asked_by_model(config_class):
    """Names that the modeling file of `config_class` asks a configuration of that class for."""
    path = pathlib.Path(inspect.getfile(config_class))
    known = re.findall(r"^class (\w+Config)\(", path.read_text(), re.M)
    modeling = path.with_name(path.name.replace("configuration_", "modeling_"))
    if not modeling.exists():   # the model is another family's, as that of internlm3 (5.23.0)
        return
    tree = ast.parse(modeling.read_text())
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and config_class.__name__ in config_classes(node, known):
            yield from asked_for(node)


def fields_of(config_class):
    """The keys that a class takes by name; before transformers 5 it was no dataclass, and its base took the rest of what it was given."""
    if dataclasses.is_dataclass(config_class):
        return {field.name for field in dataclasses.fields(config_class)}
    return {name for kind in config_class.__mro__ if "__init__" in vars(kind) and issubclass(kind, PretrainedConfig)
            for name, taken in inspect.signature(kind.__init__).parameters.items() if taken.kind is not taken.VAR_KEYWORD and name != "self"}


def taken_from_kwargs(config_class):
    """KEY of kwargs.pop("KEY"), kwargs.get("KEY") and "KEY" in kwargs, of the class itself."""
    for name in ("__post_init__" if dataclasses.is_dataclass(config_class) else "__init__", "convert_rope_params_to_dict"):
        if name in vars(config_class):
            source = inspect.getsource(vars(config_class)[name])
            yield from re.findall(r"""kwargs\.(?:pop|get)\(\s*"(\w+)\"""", source)
            yield from re.findall(r'"(\w+)" in kwargs', source)


def is_flat(config_class):
    """Whether the text part's keys may stand beside the others, as in the files of Qwen2-VL."""
    other = 4321
    text = getattr(config_class(vocab_size=other), "text_config", None)
    return getattr(text, "vocab_size", None) == other


def parts_of(config_class):
    """[(key, model_type, whether the part itself may say another)]"""
    usual = config_class()
    for key, part in sorted(config_class.sub_configs.items()):
        if part is AutoConfig or isinstance(getattr(usual, key, None), PretrainedConfig):
            yield key, getattr(usual, key).model_type, part is AutoConfig


def without_methods(keys, config_class):
    return {key for key in keys if not key.startswith("_") and not callable(inspect.getattr_static(config_class, key, None))}


def base_keys():
    keys = fields_of(PretrainedConfig) | set(taken_from_kwargs(PretrainedConfig))
    return (keys | {"model_type"}) - ROTARY


def shared_keys():
    keys = base_keys()
    for name in SHARED:
        keys |= set(asked_for(ast.parse((PACKAGE / name).read_text())))
    # Tied weights are those of a class that says so; a part's are asked for by the whole.
    return without_methods(keys - {"tie_word_embeddings"}, PretrainedConfig)


def own_keys(config_class):
    names = config_class.attribute_map  # from another name to the field's, which files may hold as well
    keys = fields_of(config_class) | set(names) | set(names.values())
    keys |= set(taken_from_kwargs(config_class)) | set(asked_by_model(config_class))
    if "rope_parameters" in keys:
        keys |= ROTARY
    return without_methods(keys - base_keys(), config_class)


def lines(config_class, path=""):
    """What stands behind the word `reads` of a family's program, of the configuration's class and of its parts' (docs/reference/programs.md, Families)."""
    usual = config_class()
    parts = [(key, type(getattr(usual, key))) for key, part, _ in parts_of(config_class) if part in CONFIG_MAPPING]   # its class, which may call itself what the whole is called
    keys = own_keys(config_class) | (set() if path else shared_keys()) | {key for key, _ in parts}
    if is_flat(config_class):
        keys |= {key for name, part in parts if name == "text_config" for key in own_keys(part)}
    yield (f"{path} as {config_class.model_type}: " if path else "") + " ".join(sorted(keys))
    for key, part in parts:
        yield from lines(part, f"{path}.{key}" if path else key)
