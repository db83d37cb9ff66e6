"""Which keys of a config.json transformers reads, class by class.

A key is read when the configuration class has a field of that name or another name for one (attribute_map), when a __post_init__ (before transformers 5 __init__) takes it out of what else
the file says, or when the code that runs the model asks the configuration for it.  Any other key becomes an attribute that nothing looks at.
"""

import ast
import dataclasses
import inspect
import json
import pathlib
import re

import transformers
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

PACKAGE = pathlib.Path(transformers.__file__).parent
# What every family goes through, and asks a configuration for keys that its class may not have.
SHARED = ["cache_utils.py", "masking_utils.py", "modeling_utils.py", "utils/generic.py"]
_TELLS_APART = re.compile(r"For(Sequence|Token)Classification|ForQuestionAnswering|ForMultipleChoice|ClassificationHead")
_OF_VALUES = re.compile(r"^initializer|_eps$")
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


def code_of(config_class):
    """The classes and functions of the modeling file whose `config` may be of that class."""
    path = pathlib.Path(inspect.getfile(config_class))
    known = re.findall(r"^class (\w+Config)\(", path.read_text(), re.M)
    modeling = path.with_name(path.name.replace("configuration_", "modeling_"))
    if not modeling.exists():  # the model is another family's, as that of internlm3 (5.23.0)
        return []
    nodes = ast.parse(modeling.read_text()).body
    return [node for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and config_class.__name__ in config_classes(node, known)]


def asked_by_model(config_class):
    """Names that the modeling file of `config_class` asks a configuration of that class for."""
    return {name for node in code_of(config_class) for name in asked_for(node)}


def fields_of(config_class):
    """The keys that a class takes by name; before transformers 5 it was no dataclass, and its base took the rest of what it was given."""
    if dataclasses.is_dataclass(config_class):
        return {field.name for field in dataclasses.fields(config_class)}
    return {
        name
        for kind in config_class.__mro__
        if "__init__" in vars(kind) and issubclass(kind, PretrainedConfig)
        for name, taken in inspect.signature(kind.__init__).parameters.items()
        if taken.kind is not taken.VAR_KEYWORD and name != "self"
    }


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


def part_classes(config_class):
    """[(key, class)] of the parts that are models' configurations; a part's class may call itself what the whole is called."""
    usual = config_class()
    return [(key, type(getattr(usual, key))) for key, part, _ in parts_of(config_class) if part in CONFIG_MAPPING]


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


def other_names(config_class, path=""):
    """{path: path of the field} of the attribute_map of a configuration's class and of its parts' classes."""
    names = {f"{path}{other}": f"{path}{field}" for other, field in config_class.attribute_map.items() if other != field}
    for key, part in part_classes(config_class):
        names |= other_names(part, f"{path}{key}.")
    return names


def own_keys(config_class):
    names = config_class.attribute_map  # from another name to the field's, which files may hold as well
    keys = fields_of(config_class) | set(names) | set(names.values())
    keys |= set(taken_from_kwargs(config_class)) | asked_by_model(config_class)
    if "rope_parameters" in keys:
        keys |= ROTARY
    return without_methods(keys - base_keys(), config_class)


def lines(config_class, path=""):
    """What stands behind the word `reads` of a family's program, of the configuration's class and of its parts' (docs/reference/programs.md, Families)."""
    parts = part_classes(config_class)
    keys = own_keys(config_class) | (set() if path else shared_keys()) | {key for key, _ in parts}
    if is_flat(config_class):
        keys |= {key for name, part in parts if name == "text_config" for key in own_keys(part)}
    yield (f"{path} as {config_class.model_type}: " if path else "") + " ".join(sorted(keys))
    for key, part in parts:
        yield from lines(part, f"{path}.{key}" if path else key)


def undeclared(config_class, path=""):
    """{path: what the code takes of it} of keys that a model's code asks for by getattr, and that its configuration class does not declare: a file may have them all the same.
    As text: a literal, keys of the same configuration, or null, where it cannot be told."""
    usual, found = config_class(), {}
    declared = fields_of(config_class) | set(config_class.attribute_map) | set(config_class.attribute_map.values()) | set(taken_from_kwargs(config_class)) | base_keys() | ROTARY
    calls = list(_optional(config_class))
    for key, part in part_classes(config_class):
        found.update(undeclared(part, f"{path}{key}."))
    for name in without_methods({name for name, _ in calls} - declared, config_class):
        of_text = f"{path}text_config.{name}" in found or hasattr(getattr(usual, "text_config", None), name)  # the code of a file is of all its classes, unless it says which
        if not hasattr(usual, name) and not of_text and not _OF_VALUES.search(name):
            found[f"{path}{name}"] = _taken_of([default for other, default in calls if other == name], name, path, declared, config_class.attribute_map)
    return found


def _optional(config_class):
    """(name, default) of getattr(config, "NAME", default) in the modeling file, but for classes that tell texts apart, which have programs of their own."""
    for node in (node for top in code_of(config_class) if not _TELLS_APART.search(top.name) for node in ast.walk(top)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1 and is_config(node.args[0]) and isinstance(node.args[1], ast.Constant):
            yield node.args[1].value, node.args[2] if len(node.args) > 2 else None


def _taken_of(defaults, name, path, declared, fields):
    """The one default in all places; of the size of a head the width's share, where code says that behind `or`.  `fields`: what a class calls what its code asks for by other names."""
    texts = {"null" if default is None else _as_text(default, path, fields) for default in defaults}
    share = "//".join(f"{path}{fields.get(key, key)}" for key in ("hidden_size", "num_attention_heads"))
    if name == "head_dim" and texts <= {"null", share} and {"hidden_size", "num_attention_heads"} <= declared:
        return share
    return texts.pop() if len(texts) == 1 else "null"


def _as_text(node, path, fields):
    """Of a literal, config.NAME and the quotient of two of these; else null."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return json.dumps(-node.operand.value)
    if isinstance(node, ast.Constant):
        return json.dumps(node.value)
    if isinstance(node, ast.Attribute):
        first, *names = ast.unparse(node).removeprefix("self.").split(".")
        return f"{path}{'.'.join(fields.get(name, name) for name in names)}" if first == "config" else "null"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        sides = [_as_text(side, path, fields) for side in (node.left, node.right)]
        return "null" if "null" in sides else "//".join(sides)
    return "null"
