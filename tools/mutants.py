#!/usr/bin/env python3
"""Mutation tests: deliberate faults, each of which the tests of its folder's groups must catch.

usage: tools/mutants.py check
       tools/mutants.py build [FOLDER]
       tools/mutants.py run [FOLDER] [--only ID ...] [--out FILE]
       tools/mutants.py table [--out FILE]

tests/mutants/*.toml, one file per area, lists the mutants.  `build` makes a copy of the tree in which the
environment variable MUTANT selects one of them, so that one build serves all.
"""

import argparse
import os
import pathlib
import subprocess
import sys

import mutant_results
import mutant_schemata

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/testing"))
import groups

TREE = ROOT / "build" / "mutants" / "tree"
RESULTS = ROOT / "build" / "mutants" / "results.jsonl"
OWN = ("tests/mutants/", "tests/tools/test_mutants.py")  # which a tree with mutants contradicts
LEAST_TIMEOUT_SECONDS = 120
TIMEOUT_FACTOR = 5
# Quick parts of two groups, tried before all groups: most mutants that these catch are caught here.
UNIT_TESTS = "build/release/tests/unit/unit_tests"
LONG_UNIT_TESTS = "$(cat build/release/tests/unit/long_tests.txt)"
PARTS = {
    "unit in one process": ("unit", ["bash", "-c", f'{UNIT_TESTS} --gtest_fail_fast --gtest_brief=1 --gtest_filter="-{LONG_UNIT_TESTS}"']),
    "golden but steps": (
        "golden",
        ["ctest", "--test-dir", "build/release", "-j2", "-L", "^golden[.](fast|default)$", "-E", "steps|late|programs|hub", "--stop-on-failure"],
    ),
}


def check(root):
    """Prints every fault of the catalogue.  Returns the exit code."""
    mutants = mutant_schemata.read(root)
    problems = mutant_schemata.problems(root, mutants)
    print("\n".join(problems) or f"mutants: each of the {len(mutants)} snippets occurs once")
    return 1 if problems else 0


def build(root, tree):
    """Copies the tracked files, makes the mutants selectable, and builds the copy as the tests need it."""
    if check(root):
        return 1
    listed = subprocess.check_output(["git", "-C", root, "ls-files", "-z"], text=True)
    names = [name for name in listed.rstrip("\0").split("\0") if not name.startswith(OWN)]
    mutant_schemata.copy_tree(root, tree, names)
    mutant_schemata.apply(tree, mutant_schemata.read(root))
    for environment in root.glob(".venv*"):
        if not (tree / environment.name).exists():
            (tree / environment.name).symlink_to(environment.resolve())
    return subprocess.run(["tools/setup.sh", "--tests"], cwd=tree).returncode


def run_group(tree, group, mutant="", timeout_seconds=None):
    """Exit code, seconds and output of one group's tests; exit code 124 if they took too long."""
    environment = {key: value for key, value in os.environ.items() if key != "MUTANT"}
    if mutant:
        environment["MUTANT"] = mutant
    command = ["tools/test.sh", "--level", "default", "--stop", "--as-built", group]
    if group in PARTS:
        command = PARTS[group][1]
    return mutant_results.run_timed(command, tree, environment, timeout_seconds)


def baseline(tree, group, results):
    """Seconds that a group takes without a mutant; None, and a line on stderr, for one that fails."""
    known = [row for row in results.rows if row.get("baseline") and row["group"] == group]
    if not known:
        code, seconds, output = run_group(tree, group)
        row = {"baseline": True, "group": group, "passed": code == 0, "seconds": seconds}
        known = [results.add({**row, "output": "" if code == 0 else mutant_results.failure(output)})]
    if not known[-1]["passed"]:
        why = known[-1]["output"]
        print(f"{group}: fails without a mutant, and is left out: {why}", file=sys.stderr)
    return known[-1]["seconds"] if known[-1]["passed"] else None


def rounds(tree, mutants):
    """(group, its mutants), cheap groups first: each mutant has gone through the cheap ones before any goes through a dear one."""
    table, folders = groups.load(tree / "tests/groups.toml")
    by_group = {}
    for mutant in mutants:
        for group in groups.groups_of(mutant.file, folders):
            by_group.setdefault(group, []).append(mutant)
    parts = [(part, by_group[group]) for part, (group, _) in PARTS.items() if group in by_group]
    return parts + sorted(by_group.items(), key=lambda item: table[item[0]].minutes)


def try_mutant(tree, mutant, group, seconds_without):
    """The row of one mutant in one group."""
    timeout_seconds = max(LEAST_TIMEOUT_SECONDS, TIMEOUT_FACTOR * seconds_without)
    code, seconds, output = run_group(tree, group, mutant.id, timeout_seconds)
    why = "timeout" if code == mutant_results.TIMED_OUT else mutant_results.failure(output) if code else ""
    return {"id": mutant.id, "group": group, "caught": code != 0, "seconds": seconds, "output": why}


def run(root, tree, only, out):
    """Tries every mutant in each group that it has no result of, until one catches it.  Returns 1 if one escaped."""
    mutants = mutant_schemata.read(root)
    if unknown := set(only) - {mutant.id for mutant in mutants}:
        sys.exit(f"no mutant is called {', '.join(sorted(unknown))}")
    mutants = [mutant for mutant in mutants if not only or mutant.id in only]
    results = mutant_results.Results(out)
    for group, own in rounds(tree, mutants):
        left = [mutant for mutant in own if not results.has(mutant.id, group)]
        seconds_without = baseline(tree, group, results) if left else None
        for mutant in left if seconds_without is not None else ():
            row = results.add(try_mutant(tree, mutant, group, seconds_without))
            print(f"{mutant.id}: {group} ({row['seconds']} s) {row['output'] or 'not caught'}", flush=True)
    found = results.of_mutants()
    for mutant in mutants:
        if not found.get(mutant.id, {"caught": True})["caught"]:
            results.add({**found[mutant.id], "escaped": True})
    return 0 if all(found.get(mutant.id, {}).get("caught") for mutant in mutants) else 1


def main():
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="every snippet occurs exactly once in its file")
    building = commands.add_parser("build", help="a copy in which MUTANT selects a mutant")
    running = commands.add_parser("run", help="the tests of each mutant that has no result")
    table = commands.add_parser("table", help="the results as Markdown")
    for command in (building, running):
        command.add_argument("folder", nargs="?", type=pathlib.Path, default=TREE, metavar="FOLDER")
    running.add_argument("--only", nargs="+", default=[], metavar="ID", help="these mutants alone")
    for command in (running, table):
        command.add_argument("--out", type=pathlib.Path, default=RESULTS, metavar="FILE", help="JSON lines")
    given = parser.parse_args()
    if given.command == "check":
        return check(ROOT)
    if given.command == "table":
        rows = mutant_results.Results(given.out).of_mutants()
        group_of_part = {part: group for part, (group, _) in PARTS.items()}
        print(mutant_results.table(mutant_schemata.read(ROOT), rows, group_of_part))
        return 0
    tree = given.folder.resolve()
    return build(ROOT, tree) if given.command == "build" else run(ROOT, tree, given.only, given.out)


if __name__ == "__main__":
    sys.exit(main())
