"""Write down which keys of config.json transformers reads, as src/zoo/config_keys.cpp.

    python tools/trace/record_config_keys.py src/zoo/config_keys.cpp

For each family that src/zoo/index.cpp lists, and for the parts that it is made of: python/tidemark/capture/config_keys.py.
"""
import inspect
import pathlib
import re
import sys
import textwrap

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from tidemark.capture.config_keys import is_flat, own_keys, parts_of, shared_keys  # noqa: E402

ZOO = ROOT / "src/zoo"


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
