#!/usr/bin/env python3
"""Other spellings of keys that a configuration class takes and the program of its family does not.

usage: tidemark run --gpu h100-80gb -- python tools/capture/spellings.py FOLDER [--write]

FOLDER is data/programs/RELEASE, of this Python's transformers.  A line for each: MODEL_TYPE KEY SPELLING.  With `--write` the programs take them from then on (`also`, docs/reference/programs.md).
It ends with 1 where there are any.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
KEY = re.compile(r"^key (?P<path>\S+) = (?P<default>[^;\n]*)(?P<null>; null)?(; also (?P<also>[^\n]*))?$", re.MULTILINE)


def builder(model_type):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return lambda keys: CONFIG_MAPPING[model_type](**{key: value for key, value in keys.items() if key != "model_type"}).to_dict()


def spellings(model_type, header):
    """(line of a key, spellings that it lacks)"""
    from tidemark.capture.config_keys import other_names, taken_from_kwargs
    from tidemark.capture.keys import Defaults
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config_class = CONFIG_MAPPING[model_type]
    build = builder(model_type)
    defaults = Defaults(build, [build({})], other_names(config_class), sorted({*taken_from_kwargs(config_class)}))
    for line in KEY.finditer(header):
        taken = (line["also"] or "").split()
        try:
            lacks = [other for other in defaults.others(line["path"]) if other not in taken]
        except Exception:  # whatever a configuration class thinks of
            continue
        if lacks:
            yield line[0], lacks


def main():
    import transformers

    transformers.logging.set_verbosity_error()
    folder, is_written, found = pathlib.Path(sys.argv[1]), "--write" in sys.argv, False
    for program in sorted(folder.iterdir()):
        text = program.read_text()
        parts = re.split(r"(?<=\n)(?=tidemark-program )", text)  # of a family that is built in several ways
        for number, part in enumerate(parts):
            header, modules, rest = part.partition("\nmodules ")
            for line, lacks in spellings(program.name.partition(".")[0], header):
                found = True
                print(program.name, line.split()[1], *lacks)
                header = header.replace(line + "\n", f"{line}{' ' if '; also ' in line else '; also '}{' '.join(lacks)}\n")
            parts[number] = header + modules + rest
        if is_written and "".join(parts) != text:
            program.write_text("".join(parts))
    sys.exit(found)


if __name__ == "__main__":
    main()
