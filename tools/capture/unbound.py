#!/usr/bin/env python3
"""Keys that transformers reads, that the program of a family does not follow, and that change what it follows, or the model's parameters.

usage: tidemark run --gpu h100-80gb -- python tools/capture/unbound.py FOLDER [--models] [--write] [MODEL_TYPE ...]

FOLDER is data/programs/RELEASE, of this Python's transformers.  Each key of the lines `reads` that no line `key` names is changed: the configuration class must make the same of all keys that the program follows.
With `--models` a tiny model of it, on the meta device, must also have the same parameters and buffers.  A line for each that has not: MODEL_TYPE KEY VALUE what changed.  It ends with 1 where there are any.
With `--write` a key that alone decides a followed one becomes its spelling (`also`: LFM2-VL's block_ff_dim). Programs hold for the default of each other such key; a way that another value makes (Llama 4's interleave_moe_layer_step) needs its own line.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trace"), str(HERE.parents[1] / "python")]
KEY = re.compile(r"^key (\S+) = (.*)$", re.MULTILINE)
WORDS = ("gated-gelu", "gelu", "relu", "silu", "layer", "none")  # what strings of configurations are: activations and kinds of norms
PARTS_OF_FILES = {"architectures", "model_type", "sub_configs", "transformers_version"}


def programs_in(path):
    """The headers of a file's programs."""
    return [text.partition("\nmodules ")[0] + "\n" for text in re.split(r"(?<=\n)(?=tidemark-program )", path.read_text())]


def followed(header):
    """(paths of keys, all spellings of them and what they are in)"""
    paths, spellings = [], set()
    for path, rest in KEY.findall(header):
        paths.append(path)
        spellings |= {path, *re.findall(r"letters (\S+)", rest)}
        for others in re.findall(r"also ([^;]*)", rest):
            spellings |= set(others.split())
    return paths, spellings | {spelling[:dot] for spelling in spellings for dot in (at.start() for at in re.finditer(r"\.", spelling))}


def read(header):
    """Paths of the keys that the lines `reads` name."""
    for line in re.findall(r"^reads (.*)$", header, re.MULTILINE):
        part = re.match(r"(\S+) as \S+:", line)
        yield from (f"{part[1]}.{key}" for key in line[part.end() :].split()) if part else line.split()


def others_than(value):
    """Values to change a key to."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value * 2 or 1, value + 1]
    if isinstance(value, str):
        return [word for word in WORDS if word != value]
    return [True, False, 2, 64, 0.5, [0]] if value is None else []


def effects(header, build, models=None):
    """(key, value, what changes): of each key the first."""
    from tidemark.capture.keys import at, changed

    paths, spellings = followed(header)
    for key in read(header):
        part, _, name = key.rpartition(".")
        if key in spellings or name in PARTS_OF_FILES:
            continue
        base = changed({}, {part: {}}) if part else {}
        for value in others_than(at(build(base), key)):
            try:
                before, after = build(base), build(changed(base, {key: value}))
            except Exception:  # whatever a configuration class thinks of
                continue
            found = [path for path in paths if at(before, path) != at(after, path)] or (models(key, value) if models else [])
            if found:
                yield key, value, found
                break


def usual_of(header, build, key):
    """The value of the class for a key that is not there: its default, else the number that makes no difference, else null."""
    from tidemark.capture.keys import at, changed

    paths, _ = followed(header)
    part = key.rpartition(".")[0]
    base = changed({}, {part: {}}) if part else {}
    usual = build(base)
    for value in () if at(usual, key) is not None else range(1, 13):
        try:
            made = build(changed(base, {key: value}))
        except Exception:  # whatever a configuration class thinks of
            continue
        if all(at(made, path) == at(usual, path) for path in paths):
            return value
    return at(usual, key)


def is_spelling(build, key, value, found):
    """Whether the one key that changes has the value of `key` from then on."""
    from tidemark.capture.keys import at, changed

    return len(found) == 1 and at(build(changed({}, {key: value})), found[0]) == value


def with_spelling(header, path, spelling):
    """The header with another spelling of a key."""
    return re.sub(rf"^(key {re.escape(path)} = .*)$", lambda line: f"{line[1]}{' ' if '; also ' in line[1] else '; also '}{spelling}", header, flags=re.MULTILINE)


def with_held(header, usual):
    """The header with a line for each of these keys, and a condition on it."""
    from tidemark.capture.keys import written

    for word, line in (("key", "key {} = {}\n"), ("holds", "holds {} == {}\n")):
        end = [found.end() for found in re.finditer(rf"^{word} .*\n", header, re.MULTILINE)][-1]
        header = header[:end] + "".join(line.format(key, written(value)) for key, value in usual.items()) + header[end:]
    return header


def tensors_of(model_type, header, overrides):
    """changes(key, value): names of tensors that a tiny model has otherwise."""
    from record_published import rows
    from tidemark.capture.keys import changed
    from tiny import tiny

    class_name = re.search(r"^class (\w+)$", header, re.MULTILINE)[1]
    keys = tiny(model_type, overrides)
    usual = set(rows(keys, class_name))

    def changes(key, value):
        try:
            return sorted(name for _, name, *_ in usual ^ set(rows(changed(keys, {key: value}), class_name)))[:3]
        except Exception:  # whatever a model of such a configuration raises
            return []

    return changes


def main():
    import transformers
    from tidemark.capture.unwritten import keys_of
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity(transformers.logging.CRITICAL + 1)  # a class tells of each value that it does not take
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--models", action="store_true", help="parameters and buffers of tiny models, too")
    parser.add_argument("--write", action="store_true", help="conditions on such keys, into the programs")
    asked, any_found = parser.parse_intermixed_args(), False
    overrides = json.loads((HERE / "overrides.json").read_text())
    for path in sorted(asked.folder.iterdir()):
        model_type = path.name.partition(".")[0]
        if asked.model_types and model_type not in asked.model_types:
            continue

        def build(keys, config_class=CONFIG_MAPPING[model_type]):
            return keys_of(config_class(**keys), keys)

        text = path.read_text()
        for header in programs_in(path):
            models, usual, written = tensors_of(model_type, header, overrides.get(model_type, {})) if asked.models else None, {}, header
            for key, value, found in effects(header, build, models):
                any_found = True
                print(path.name, key, json.dumps(value), *found, flush=True)
                if is_spelling(build, key, value, found):
                    written = with_spelling(written, found[0], key)
                else:
                    usual[key] = usual_of(header, build, key)
            text = text.replace(header, with_held(written, usual) if usual else written)
        if asked.write:
            path.write_text(text)
    sys.exit(any_found)


if __name__ == "__main__":
    main()
