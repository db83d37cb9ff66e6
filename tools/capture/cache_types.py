#!/usr/bin/env python3
"""What transformers 5.24.0 changed in caches, as lines of programs that are of a release before and equal on it otherwise; of those named, whether or not compare.py has found that yet.

usage: python tools/capture/cache_types.py [MODEL_TYPE ...]

The empty tensor that a layer's values are put behind was of the keys' type and is of the values' own: another one under autocast, where a rotation makes
keys float32 (cache_utils.py, DynamicLayer.lazy_initialization).  The line stands twice, for the releases before and since, but where nothing is moved by it.
TIDEMARK_BIN is the command.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", ROOT / "build/release/apps/cli/tidemark")
SINCE = "5.24.0"
EMPTY = re.compile(r"^(\s+)(%[\w.]+)(: T\[0\] = torch\.tensor\(data, dtype=)(dtype\([%$][\w.^]+\)|float32)(, device=device\).*)$")
ASKED = ["--batch", "2", "--seq", "160", "--dtype", "fp32", "--autocast", "bf16", "--gpu", "h200", "--memory", "4000GB", "--offline", "--quiet"]


def rewritten(text):
    """The empty tensor of each layer's values, which is behind that of its keys, as it is since: of the type of what is put behind it."""
    lines, made, keys = text.split("\n"), [], None
    for number, line in enumerate(lines):
        found = EMPTY.match(line)
        is_of_values = found and keys and keys[4] == found[4]
        keys = None if is_of_values else found
        joins = joined(lines[number + 1 :], found[2]) if is_of_values else None
        behind = joins and f"dtype({joins})"
        if not behind or behind == found[4]:
            made.append(line)
            continue
        indent, name, before, kept, after = found.groups()
        made += [f"{indent}before {SINCE} {name}{before}{kept}{after}", f"{indent}since {SINCE} {name}{before}{behind}{after}"]
    return "\n".join(made)


def joined(lines, name):
    """What stands behind the value of that name where both are joined."""
    for line in lines:
        if not line.startswith(" "):
            return None  # another body
        found = re.search(rf"torch\.cat\(\[{re.escape(name)}, ([%$][\w.^]+)\]", line)
        if found:
            return found[1]
    return None


def events(program, release, folder):
    config, told = folder / "config.json", folder / "events.txt"
    config.write_text(f'{{"model_type": "{program.name}"}}')
    told.unlink(missing_ok=True)
    subprocess.run([TIDEMARK, "predict", config, "--program", program, "--transformers", release, *ASKED, "--events", told], capture_output=True)
    return told.read_text() if told.exists() else None  # the family has no usable default, or wants images


def _last_before(kind):
    """The family's program of the last release before."""

    def number(program):
        return tuple(map(int, program.parent.name.split(".")))

    return max((p for p in (ROOT / "data/programs").glob(f"*/{kind}") if p.parent.name != SINCE), key=number)


def main():
    for program in sorted((ROOT / "data/programs").glob("*/*")):
        text = program.read_text()
        is_asked = program.name in sys.argv[1:] if sys.argv[1:] else re.search(rf"^equal_on .*\b{re.escape(SINCE)}\b", text, re.MULTILINE)
        if not is_asked or program.parent.name == SINCE or program != _last_before(program.name):
            continue
        changed = rewritten(text)
        if changed == text:
            continue
        changed = re.sub(r"^(transformers .*\n)(?!equal_on )", rf"\1equal_on {SINCE}\n", changed, flags=re.MULTILINE)  # without which it does not answer for that release; compare.py --note has the last word
        program.write_text(changed)
        with tempfile.TemporaryDirectory() as folder:
            before, since = (events(program, release, pathlib.Path(folder)) for release in (program.parent.name, SINCE))
        is_same = before is not None and before == since
        if is_same:
            program.write_text(text)
        said = "as it was" if is_same else f"{changed.count('since ' + SINCE)} lines"
        print(f"{program.parent.name}/{program.name}: {said}", flush=True)


if __name__ == "__main__":
    main()
