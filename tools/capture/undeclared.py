#!/usr/bin/env python3
"""What a model's code asks its configuration for, and the configuration's class does not declare, as lines of the shipped programs of this Python's transformers: each holds for what the code takes of it.

usage: tidemark run --gpu h100-80gb -- python tools/capture/undeclared.py [MODEL_TYPE ...]

ship.py writes these lines, and solves the sizes of heads among them, since it looks for such keys (python/tidemark/capture/config_keys.py); this is for programs from before that.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "python")]


def with_lines(text, undeclared):
    """Each of the programs of a file."""
    parts = re.split(r"(?m)(?=^tidemark-program )", text)
    return "".join(_with_lines(part, undeclared) for part in parts if part)


def _with_lines(text, undeclared):
    keys = re.findall(r"(?m)^key (\S+) = ", text)
    for path, taken in sorted(undeclared.items()):
        if path in keys or not keys:
            continue
        names = re.findall(r"[a-z][\w.]+", taken) if not taken.startswith('"') else []
        taken = taken if all(name in keys or name in ("null", "true", "false") for name in names) else "null"
        last = list(re.finditer(r"(?m)^key .*\n", text))[-1]
        text = f"{text[: last.end()]}key {path} = {taken}; null\n{text[last.end() :]}"
        last = list(re.finditer(r"(?m)^holds .*\n", text))[-1]
        text = f"{text[: last.end()]}holds {path} == {taken}\n{text[last.end() :]}"
    return text


def main():
    import transformers
    from tidemark.capture.config_keys import undeclared
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity_error()
    for path in sorted((HERE.parents[1] / "data/programs" / transformers.__version__).iterdir()):
        if sys.argv[1:] and path.name.partition(".")[0] not in sys.argv[1:]:
            continue
        before = path.read_text()
        after = with_lines(before, undeclared(CONFIG_MAPPING[path.name.partition(".")[0]]))
        if after != before:
            path.write_text(after)
            print(f"{transformers.__version__}/{path.name}: {after.count(chr(10)) - before.count(chr(10))} lines", flush=True)


if __name__ == "__main__":
    main()
