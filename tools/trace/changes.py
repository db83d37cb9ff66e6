#!/usr/bin/env python3
"""What changed between two releases, from recordings of both: grouped, and of each group the first event that differs.

    changes.py OLD NEW [--packages OLD_SITE_PACKAGES NEW_SITE_PACKAGES]

OLD and NEW hold a folder of recordings per kind; tests/golden is one (tools/trace/record_release.sh makes others).  Operations are
grouped by name, with the files of PyTorch that ours cites; steps by the operation and the layer in which they part, and by optimizer and
strategy; recordings of the allocator by its settings.  With --packages: the cited files that were edited, as far as wheels hold them.
"""

import argparse
import collections
import itertools
import json
import pathlib
import re

from differences import edits, recordings, text_of

MOST_PLACES = 40  # of those that differ; the first ones are the ones to begin with
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"
CITED = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:py|pyi|cpp|cuh|cu|h|yaml)\b")
RELEASE = re.compile(r'("?(?:torch|transformers|peft|deepspeed)"?:? "?)[^",\s]+')  # in a header


def first_difference(old, new):
    """The number of the first line that is not the same, from 0, and both lines; None when all are."""
    for number, (a, b) in enumerate(itertools.zip_longest(old, new, fillvalue="the end")):
        if a != b:
            return number, a, b
    return None


def layer_of(module):
    """model.layers.3.mlp: model.layers.N.mlp"""
    return re.sub(r"\b\d+\b", "N", module)


def step_of(text):
    header, *events = text.splitlines()
    return json.loads(header), events


def compared_steps(old, new, named):
    """{case: (how, first difference) of those that differ}; `named` has the lines whole, with operation and module."""
    found = {}
    for name in sorted(old.keys() & new.keys()):
        header, before = step_of(text_of(old[name]))
        _, after = step_of(text_of(new[name]))
        parted = first_difference(before, after)
        if not parted:
            continue
        number, was, now = parted
        whole = step_of(text_of(named[name]))[1] if name in named else after
        places = [place_of(whole, number), *(place_of(whole, at) for at in places_of_edits(before, after))]
        found[name] = {"spec": header["spec"], "where": places[0], "all": set(places), "first": f"event {number}: {now} where it was {was}"}
    return found


def place_of(whole, number):
    """The operation and the layer of an event, whose line says both."""
    if number >= len(whole):
        return "the end"
    _, operation, layer = (whole[number].split(" ", 2) + ["-", "-"])[:3]
    return f"{operation} in {layer_of(layer)}"


def places_of_edits(before, after):
    """The lines of `after`, from 0, at which what differs begins."""
    kept, taken, result = 0, 0, []
    lines = iter(edits("".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)).splitlines())
    for command in lines:
        line, count = map(int, command[1:].split())
        at = line - 1 if command[0] == "d" else line
        kept, taken = kept + max(0, at - taken), max(taken, at)
        result.append(kept)
        if command[0] == "d":
            taken += count
        else:
            kept += sum(1 for _ in itertools.islice(lines, count))
    return result


def optimizer_of(spec):
    return f"{spec.get('optimizer', 'adamw')} ({spec.get('optimizer_impl', 'auto')})"


def strategy_of(spec):
    parts = [spec.get("parallel", "none"), *(key for key in ("tp", "pp", "cp") if key in spec)]
    return "+".join(part for part in parts if part != "none") or "one GPU"


def grouped(found, key, total=None):
    """Lines: how many cases of each group, the first divergence of its first case, and which case that is."""
    groups = collections.defaultdict(list)
    for name, one in found.items():
        groups[key(one)].append(name)
    for group, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        of = f" of {total[group]}" if total else ""
        yield f"  {len(names)}{of}  {group}: {found[names[0]]['first']} ({names[0]})"


def steps(old, new, named):
    found = compared_steps(old, new, named)
    both = old.keys() & new.keys()
    yield f"{len(found)} of {len(both)} steps differ"
    if found:
        specs = [step_of(text_of(old[name]))[0]["spec"] for name in both]
        yield " by the operation and the layer where they part"
        yield from grouped(found, lambda one: one["where"])
        yield " in how many there is a difference at an operation of a layer, be it the first or not"
        places = collections.Counter(place for one in found.values() for place in one["all"])
        yield from (f"  {count}  {place}" for place, count in places.most_common(MOST_PLACES))
        yield " by optimizer"
        yield from grouped(found, lambda one: optimizer_of(one["spec"]), collections.Counter(map(optimizer_of, specs)))
        yield " by strategy"
        yield from grouped(found, lambda one: strategy_of(one["spec"]), collections.Counter(map(strategy_of, specs)))


def call_of(row):
    return {key: value for key, value in row.items() if key not in ("y", "forward", "drop", "backward")}


def first_of_call(old, new):
    """Where two recordings of one call part."""
    for part in ("y", "forward", "drop", "backward"):
        if old.get(part) == new.get(part):
            continue
        if part == "y" or part not in old or part not in new:
            return f"{part} {json.dumps(new.get(part))} where it was {json.dumps(old.get(part))}"
        number, was, now = first_difference(old[part], new[part])
        return f"{part}, event {number}: {now} where it was {was}"


def ops(old, new, citations):
    changed, cases = {}, 0
    for name in sorted(old.keys() & new.keys()):
        rows = [{json.dumps(call_of(row)): row for row in json.loads(text_of(paths[name]))} for paths in (old, new)]
        calls = [call for call in rows[0] if call in rows[1]]
        cases += len(calls)
        found = {call: first for call in calls if (first := first_of_call(rows[0][call], rows[1][call]))}
        if found:
            changed[name] = (found, len(calls))
    yield f"{sum(len(found) for found, _ in changed.values())} of {cases} calls differ, of {len(changed)} of {len(old)} operations"
    for name, (found, calls) in changed.items():
        call, first = next(iter(found.items()))
        yield f"  {len(found)} of {calls}  {name} ({citations.get(name, 'cites no file')}): {first}, in {call}"


def allocator(old, new):
    found, total = {}, collections.Counter()
    for name in sorted(old.keys() & new.keys()):
        before, after = (text_of(paths[name]).splitlines() for paths in (old, new))
        settings = next(line.partition(" ")[2] for line in before if line.startswith("settings "))
        total[settings] += 1
        parted = first_difference([RELEASE.sub(r"\1", line) for line in before], [RELEASE.sub(r"\1", line) for line in after])
        if parted:
            found[name] = {"settings": settings, "first": f"line {parted[0] + 1}: {parted[2]} where it was {parted[1]}"}
    yield f"{len(found)} of {sum(total.values())} recordings differ"
    yield from grouped(found, lambda one: one["settings"], total)


def lines_of(old, new):
    """Of kinds whose recordings are lists of independent lines."""
    for name in sorted(old.keys() & new.keys()):
        before, after = ([line for line in text_of(paths[name]).splitlines() if not line.startswith("# torch")] for paths in (old, new))
        parted = first_difference(before, after)
        if parted:
            yield f"  {name}, line {parted[0] + 1}: {parted[2]!r} where it was {parted[1]!r}"
    yield f"  {len(old.keys() & new.keys())} files compared"


def cited_by(folder):
    """{file of PyTorch or of a library: our files that cite it}, from comments and from the list of operations."""
    own = {path.name for path in folder.rglob("*") if path.is_file()}
    found = collections.defaultdict(set)
    for path in sorted(folder.rglob("*.[ch]*")):
        for line in path.read_text().splitlines():
            text = line.partition("//")[2] if path.name != "index.cpp" else line
            for name in CITED.findall("" if "#include" in line else text):
                if name.rpartition("/")[2] not in own:
                    found[name].add(str(path.relative_to(folder.parent)))
    return found


def files_of(site_packages):
    """{name of a file: its paths} of the libraries that ours follow."""
    found = collections.defaultdict(list)
    for package in ("torch", "torchgen", "transformers", "deepspeed", "peft"):
        for path in sorted((site_packages / package).rglob("*")):
            if path.suffix in (".py", ".h", ".cuh", ".yaml"):
                found[path.name].append(path)
    return found


def edited_files(citations, old, new):
    """The cited files whose text changed; which one is meant must be plain from what is cited."""
    before, after = files_of(old), files_of(new)
    told = collections.defaultdict(set)
    for name, cited in sorted(citations.items()):
        was, now = ([path for path in files.get(name.rpartition("/")[2], []) if f"/{path}".endswith(f"/{name}")] for files in (before, after))
        if len(was) != 1:
            continue
        if len(now) != 1:
            told[f"{was[0].relative_to(old)} is not there any more"] |= cited
        elif was[0].read_text() != now[0].read_text():
            count = len(set(now[0].read_text().splitlines()) ^ set(was[0].read_text().splitlines()))
            told[f"{was[0].relative_to(old)}: {count} lines differ"] |= cited
    for what, cited in sorted(told.items()):
        yield f"  {what}; cited by {', '.join(sorted(cited))}"


def citations_of_operations(index):
    """{operation: what ours says it follows}, of src/ops/index.cpp."""
    return dict(re.findall(r'\{"(\w+)", "([^"]+)"\}', index.read_text()))


def kinds_of(old, new):
    """What is told of each kind that both folders have."""
    folders = {kind: (recordings(old / kind), recordings(new / kind)) for kind in ("ops", "steps", "late", "allocator", "layout", "parameters") if (old / kind).is_dir() and (new / kind).is_dir()}
    for kind, (before, after) in folders.items():
        yield f"{kind}:"
        if missing := sorted(before.keys() - after.keys()):
            yield f" {len(missing)} are not recorded, from {missing[0]} to {missing[-1]}"
        if kind == "ops":
            yield from ops(before, after, citations_of_operations(SOURCES / "ops/index.cpp"))
        elif kind in ("steps", "late"):
            yield from steps(before, after, recordings(new / f"{kind}.named") if (new / f"{kind}.named").is_dir() else {})
        elif kind == "allocator":
            yield from allocator(before, after)
        else:
            yield from lines_of(before, after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--packages", nargs=2, type=pathlib.Path, metavar=("OLD", "NEW"))
    options = parser.parse_args()
    for line in kinds_of(options.old, options.new):
        print(line)
    if options.packages:
        print("cited files that were edited:")
        for line in edited_files(cited_by(SOURCES), *options.packages):
            print(line)


if __name__ == "__main__":
    main()
