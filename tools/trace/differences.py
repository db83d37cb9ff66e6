#!/usr/bin/env python3
"""Stores what a release of torch does differently from the recordings in tests/golden, so that each release adds little to them.

    differences.py write KIND RAW RELEASE           RAW, a folder of recordings, to tests/golden/KIND/torch-RELEASE.diff.gz
    differences.py add KIND RAW RELEASE             the same of new recordings alone: the others stay
    differences.py without KIND RELEASE CASE ...    the release has no recording of these cases
    differences.py read KIND RELEASE [CASE ...]     prints the recordings of these cases as the release has them
    differences.py unpack RELEASE OUT               all recordings as the release has them, each kind into OUT/KIND

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


def scripts_of(base, raw, release):
    """{name: edits} of the recordings in `raw`, empty where they are equal."""
    ours = recordings(base)
    return {name: edits(as_of(release, text_of(ours[name])) if name in ours else "", text_of(path)) for name, path in recordings(raw).items()}


def text_with(release, scripts, without):
    rows = [f"base {BASE}\n", f"release {release}\n", *(f"without {name}\n" for name in without)]
    return "".join(rows + [f"case {name}\n{script}" for name, script in sorted(scripts.items()) if script])


def differences(base, raw, release):
    """The text of the file, of two folders."""
    scripts = scripts_of(base, raw, release)
    return text_with(release, scripts, [name for name in recordings(base) if name not in scripts])


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


def path_of(kind, release):
    return GOLDEN / kind / f"torch-{release}.diff.gz"


def pack(kind, release, text):
    path = path_of(kind, release)
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed:
        packed.write(text.encode())
    scripts, without = stored(text)
    recorded = {*recordings(GOLDEN / kind), *scripts} - {*without}
    print(f"{kind}: {len(scripts)} of {len(recorded)} cases differ, {len(without)} are not recorded, {path.stat().st_size} bytes")


def write(kind, raw, release):
    pack(kind, release, differences(GOLDEN / kind, raw, release))


def add(kind, raw, release):
    scripts, without = stored(text_of(path_of(kind, release)))
    new = scripts_of(GOLDEN / kind, raw, release)
    pack(kind, release, text_with(release, {**scripts, **new}, [name for name in without if name not in new]))


def mark(kind, release, *names):
    scripts, without = stored(text_of(path_of(kind, release)))
    pack(kind, release, text_with(release, {name: script for name, script in scripts.items() if name not in names}, sorted({*without, *names})))


def recorded(kind, release, *names):
    """(name, text) of these cases as the release has them, of all when none is named."""
    scripts, without = stored(text_of(path_of(kind, release)))
    bases = recordings(GOLDEN / kind)
    for name in names or sorted({*bases, *scripts} - {*without}):
        base = as_of(release, text_of(bases[name])) if name in bases else ""
        yield name, edited(base, scripts.get(name, ""))


def read(kind, release, *names):
    for _, text in recorded(kind, release, *names):
        sys.stdout.write(text)


def unpack(release, out):
    for path in sorted(GOLDEN.glob(f"*/torch-{release}.diff.gz")):
        kind = path.parent.name
        ending = next(ending for ending in ENDINGS if any(path.parent.glob(f"*{ending}")))
        folder = pathlib.Path(out, kind)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in recorded(kind, release):
            packed = gzip.compress(text.encode(), mtime=0) if ending.endswith(".gz") else text.encode()
            (folder / (name + ending)).write_bytes(packed)


if __name__ == "__main__":
    commands = {"write": write, "add": add, "without": mark, "read": read, "unpack": unpack}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
