#!/usr/bin/env python3
"""Asks for a prediction of every file of tests/posted, and writes docs/posted-files.md.

usage: python tools/posted_files.py --tidemark build/release/apps/cli/tidemark [--check]

With --check it fails where the page differs from what would be written.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
POSTED = ROOT / "tests" / "posted"
CONFIGS = ROOT / "tests" / "golden" / "hub_configs" / "hub.txt.gz"
PAGE = ROOT / "docs" / "posted-files.md"
HEAD = """# Trainer files as people post them

`tests/posted` holds {count} files and commands from public repositories, with the source of each in
`tests/posted/index.json`. Each is asked as it is:

    tidemark predict CONFIG --trainer FILE --gpu GPU

{answered} are answered as posted. The others name every key that is not predicted in one error, with the
nearest value that is, and `--nearest` answers with these values: {near} of {count} are answered so or as posted.
The model is that of the file where its configuration is in `tests/golden/hub_configs`, or one of the same
family. `tools/posted_files.py` writes this page.

| file | model | GPU | answer |
| --- | --- | --- | --- |
"""


def index():
    return json.loads((POSTED / "index.json").read_text())


def configs():
    with gzip.open(CONFIGS, "rt") as lines:
        return {one["name"]: one["config"] for one in map(json.loads, lines)}


def command(entry, config, *more):
    """`tidemark predict` of a posted file, with the configuration of its model or of one like it."""
    beside = [word for key in ("accelerate", "deepspeed") if key in entry for word in (f"--{key}", POSTED / entry[key])]
    return ["predict", config, "--trainer", POSTED / entry["file"], "--gpu", entry["gpu"], *beside, *more]


def ask(tidemark, entry, folder, *more):
    config = pathlib.Path(folder) / f"{entry['model']}.json"
    if not config.exists():
        config.write_text(json.dumps(configs()[entry["model"]]))
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "VIRTUAL_ENV": str(folder)}
    words = [tidemark, *command(entry, config, *more)]
    return subprocess.run([str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True)


def is_answered(done):
    return done.returncode in (0, 1) and done.stdout != ""


def verdict(done):
    """The first line: "fits: peak 20.9 GiB of 79.2 GiB, 58.3 GiB free"."""
    return done.stdout.splitlines()[0].strip()


def refusal_lines(done):
    """One string for each key: the error lists several, or is of one, whose remedy is in its second line."""
    lines = [line.strip() for line in done.stderr.splitlines()]
    several = "keys are not predicted:" in lines[0]
    return lines[1:-1] if several else [" ".join(lines)]


def shortened(line):
    """The key, and its nearest value: `optim`: nearest adamw_torch, which takes more."""
    where, _, nearest = line.partition("nearest: ")
    key = where.removeprefix("tidemark: ").split(" ")
    names = [word.rstrip(":") for word in key if word.endswith(":") and "/" not in word and not word.rstrip(":").isdigit()]
    name = next((word for word in names if word not in ("line", "tidemark")), "?")
    return f"`{name}`: {nearest.split(';')[0] if nearest else 'no nearest value'}"


def rows(tidemark):
    with tempfile.TemporaryDirectory() as folder:
        for entry in index():
            done = ask(tidemark, entry, folder)
            near = done if is_answered(done) else ask(tidemark, entry, folder, "--nearest")
            yield entry, done, near


def page(tidemark):
    lines, answered, near_count = [], 0, 0
    for entry, done, near in rows(tidemark):
        answered += is_answered(done)
        near_count += is_answered(near)
        text = verdict(done) if is_answered(done) else "<br>".join(shortened(line) for line in refusal_lines(done))
        if not is_answered(done) and is_answered(near):
            text += f"<br>so: {verdict(near)}"
        lines.append(f"| [{entry['file']}](https://{entry['source'].split(',')[0].split(' ')[0]}) | {entry['model']} | {entry['gpu']} | {text} |")
    return HEAD.format(count=len(lines), answered=answered, near=near_count) + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tidemark", type=pathlib.Path, default=ROOT / "build/release/apps/cli/tidemark")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = page(arguments.tidemark.resolve())
    if not arguments.check:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() == text:
        return 0
    print(f"{PAGE} is not what {pathlib.Path(__file__).name} writes now")
    return 1


if __name__ == "__main__":
    sys.exit(main())
