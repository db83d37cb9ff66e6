#!/usr/bin/env python3
"""Stores what a release of torch does differently from the recordings in tests/golden, so that each release adds little to them.

    differences.py write KIND RAW RELEASE           RAW, a folder of recordings, to tests/golden/KIND/torch-RELEASE.diff.gz
    differences.py read KIND RELEASE [CASE ...]     prints the recordings of these cases as the release has them

A recording is text, whose base stands beside the differences: NAME.txt.gz, or NAME.json.  With the release's number wherever the base's
stands, it is equal, or there is an edit script.  The file has, packed with gzip:

    base 2.11.0
    release 2.15.0
    without NAME        the release has no such recording
    case NAME           what follows are the edits of this recording; of one that only the release has, of an empty text
    dLINE COUNT         COUNT lines go, from the base's line LINE (the first is 1)
    aLINE COUNT         the COUNT lines that follow come behind the base's line LINE

as `diff --rcs` writes it.  tests/golden/recordings.h reads it.
"""

import gzip
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/golden"
BASE = "2.11.0"
ENDINGS = (".txt.gz", ".json", ".tsv")


def recordings(folder):
    """{name: path} of a folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        for ending in ENDINGS:
            if path.name.endswith(ending):
                found[path.name.removesuffix(ending)] = path
    return found


def text_of(path):
    return (gzip.open(path, "rt") if path.suffix == ".gz" else open(path)).read()


def as_of(release, base_text):
    """What the recording would be if the release did the same."""
    return base_text.replace(BASE, release)


def edits(old, new):
    """The script that makes `new` of `old`; empty when they are equal."""
    if old == new:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("old", "new")]
        for path, text in zip(paths, (old, new)):
            path.write_text(text)
        return subprocess.run(["diff", "--rcs", *paths], capture_output=True, text=True).stdout


def edited(old, script):
    """Undoes edits()."""
    rows, result, taken = old.splitlines(), [], 0
    lines = iter(script.splitlines())
    for command in lines:
        line, count = map(int, command[1:].split())
        kept = line - 1 if command[0] == "d" else line
        result += rows[taken:kept]
        taken = max(taken, kept)
        if command[0] == "d":
            taken += count
        else:
            result += [next(lines) for _ in range(count)]
    return "".join(row + "\n" for row in result + rows[taken:])


def differences(base, raw, release):
    """The text of the file, of two folders."""
    ours, theirs = recordings(base), recordings(raw)
    rows = [f"base {BASE}\n", f"release {release}\n", *(f"without {name}\n" for name in ours if name not in theirs)]
    for name, path in theirs.items():
        script = edits(as_of(release, text_of(ours[name])) if name in ours else "", text_of(path))
        if script:
            rows.append(f"case {name}\n{script}")
    return "".join(rows)


def stored(text):
    """{name: edits}, and the names that the release does not have."""
    scripts, without = {}, []
    lines = iter(text.splitlines(keepends=True))
    name = None
    for line in lines:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "without":
            without.append(rest)
        elif word == "case":
            name, scripts[rest] = rest, ""
        elif name:
            scripts[name] += line
            if word[0] == "a":
                scripts[name] += "".join(next(lines) for _ in range(int(rest)))
    return scripts, without


def write(kind, raw, release):
    path = GOLDEN / kind / f"torch-{release}.diff.gz"
    text = differences(GOLDEN / kind, raw, release)
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed:
        packed.write(text.encode())
    scripts, without = stored(text)
    print(f"{kind}: {len(scripts)} of {len(recordings(raw))} cases differ, {len(without)} are not recorded, {path.stat().st_size} bytes")


def read(kind, release, *names):
    scripts, without = stored(text_of(GOLDEN / kind / f"torch-{release}.diff.gz"))
    bases = recordings(GOLDEN / kind)
    for name in names or sorted({*bases, *scripts} - {*without}):
        base = as_of(release, text_of(bases[name])) if name in bases else ""
        sys.stdout.write(edited(base, scripts.get(name, "")))


if __name__ == "__main__":
    commands = {"write": write, "read": read}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
