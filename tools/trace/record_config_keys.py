"""Write down which keys of config.json transformers reads, as src/zoo/config_keys.cpp.

    python tools/trace/record_config_keys.py src/zoo/config_keys.cpp

For each family that src/zoo/index.cpp lists, and for the parts that it is made of.  A key is read when the configuration
class has a field of that name or another name for one (attribute_map), when a __post_init__ takes it out of what else
the file says, or when the code that runs the model asks the configuration for it.  Any other key becomes an attribute
that nothing looks at.  Needs transformers, not torch.
"""
import ast
import dataclasses
import inspect
import pathlib
import re
import sys
import textwrap

import transformers
from transformers.configuration_utils import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

PACKAGE = pathlib.Path(transformers.__file__).parent
ZOO = pathlib.Path(__file__).resolve().parents[2] / "src" / "zoo"
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
    tree = ast.parse(path.with_name(path.name.replace("configuration_", "modeling_")).read_text())
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and config_class.__name__ in config_classes(node, known):
            yield from asked_for(node)


def taken_from_kwargs(config_class):
    """KEY of kwargs.pop("KEY"), kwargs.get("KEY") and "KEY" in kwargs, of the class itself."""
    for name in ("__post_init__", "convert_rope_params_to_dict"):
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
        if part is AutoConfig or isinstance(getattr(usual, key, None), PreTrainedConfig):
            yield key, getattr(usual, key).model_type, part is AutoConfig


def without_methods(keys, config_class):
    return {key for key in keys if not key.startswith("_") and not callable(inspect.getattr_static(config_class, key, None))}


def base_keys():
    keys = {field.name for field in dataclasses.fields(PreTrainedConfig)} | set(taken_from_kwargs(PreTrainedConfig))
    return (keys | {"model_type"}) - ROTARY


def shared_keys():
    keys = base_keys()
    for name in SHARED:
        keys |= set(asked_for(ast.parse((PACKAGE / name).read_text())))
    # Tied weights are those of a class that says so; a part's are asked for by the whole.
    return without_methods(keys - {"tie_word_embeddings"}, PreTrainedConfig)


def own_keys(config_class):
    names = config_class.attribute_map  # from another name to the field's, which files may hold as well
    keys = {field.name for field in dataclasses.fields(config_class)} | set(names) | set(names.values())
    keys |= set(taken_from_kwargs(config_class)) | set(asked_by_model(config_class))
    if "rope_parameters" in keys:
        keys |= ROTARY
    return without_methods(keys - base_keys(), config_class)


def families():
    return re.findall(r'^    {"(\w+)"', (ZOO / "index.cpp").read_text(), re.M)


def classes(model_types):
    """Each configuration class by its model_type, parts too."""
    found = {}
    waiting = [CONFIG_MAPPING[model_type] for model_type in model_types]
    while waiting:
        config_class = waiting.pop()
        if config_class.model_type not in found:
            found[config_class.model_type] = config_class
            waiting += [part for part in config_class.sub_configs.values() if part is not AutoConfig]
    return found


def literal(keys, indent):
    lines = textwrap.wrap(" ".join(sorted(keys)), 118 - indent, drop_whitespace=False)
    return "\n".join(f'{" " * indent}"{line}"' for line in lines)


def asked_of_text_part(config_class):
    source = inspect.getsource(config_class)
    return set(re.findall(r'self\.text_config, "(\w+)"', source))


def rows(model_types):
    found = classes(model_types)
    by_whole = {}
    for config_class in found.values():
        if asked := asked_of_text_part(config_class):
            by_whole.setdefault(config_class.sub_configs["text_config"].model_type, set()).update(asked)
    for model_type, config_class in sorted(found.items()):
        parts = ", ".join(f'{{"{key}", "{part}", {str(free).lower()}}}' for key, part, free in parts_of(config_class))
        yield f'    {{"{model_type}",\n{literal(own_keys(config_class) | by_whole.get(model_type, set()), 5)},\n     {{{parts}}}, {str(is_flat(config_class)).lower()}}},\n'


def main():
    pathlib.Path(sys.argv[1]).write_text(
        f"// Written by tools/trace/record_config_keys.py from transformers {transformers.__version__}; do not edit.\n"
        '#include "zoo/config_keys.h"\n\nnamespace tidemark {\n\n// clang-format off\n'
        f"const char* const kKeysOfAllClasses =\n{literal(shared_keys(), 4)};\n\nnamespace {{\n\nconst ConfigClass kClasses[] = {{\n"
        + "".join(rows(families()))
        + "};\n\n}  // namespace\n// clang-format on\n\nstd::span<const ConfigClass> config_classes() { return kClasses; }\n\n}  // namespace tidemark\n")


if __name__ == "__main__":
    main()
