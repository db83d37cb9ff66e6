"""Runs groups of tests (tools/test.sh), and closes with a table of how each ended.

usage: run.py [fast | all | changed [BASE] | GROUP ...] [--level LEVEL] [--stop] [--as-built]
       run.py --groups-of FILE | --table

--level     of the named groups: default, or all (which they have otherwise)
--stop      ends at the first failure, cheap groups first
--as-built  neither installs nor builds
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

import groups as table

ROOT = table.ROOT
BUILD = ROOT / "build/release"
RESULTS = ROOT / "build/tests"
OUTPUT_CHARACTERS = 20_000  # of a failed call of ctest


def parsed(words):
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("what", nargs="*")
    parser.add_argument("--level", choices=("default", "all"), default="all")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--as-built", action="store_true")
    parser.add_argument("--groups-of", metavar="FILE")
    parser.add_argument("--table", action="store_true")
    return parser.parse_args(words)


def selection(what, level, groups, folders):
    """(groups, level that their tests run at)"""
    if what[:1] == ["changed"]:
        names = table.names_for(table.changed_files(*(what[1:] or ["main"])), folders)
        return [group for group in table.chosen(groups, names) if group.level != "all"], "default"
    if what in ([], ["default"], ["fast"]):
        chosen = what[0] if what else "default"
        return table.of_level(groups, chosen), chosen
    if what == ["all"]:
        return list(groups.values()), "all"
    return table.chosen(groups, what), level


def set_up(selected, level):
    """Installs and builds what the groups need."""
    needs = {"fast"} if level == "fast" else {group.needs for group in selected}
    most = next((one for one in ("all", "page", "tests", "fast") if one in needs), "fast")
    subprocess.run([ROOT / "tools/setup.sh", f"--{most}"], check=True)


def python_of(folder):
    """The interpreter of an environment; the system's where there is none."""
    own = ROOT / folder / "bin/python"
    return str(own if own.exists() else "/usr/bin/python3")


def python_of_pytest():
    """The tests' environment; the system's interpreter if pytest is missing there, as before the default level's set-up."""
    own = ROOT / ".venv/bin/pytest"
    return str(own.with_name("python") if own.exists() else "/usr/bin/python3")


def environment_of(group):
    """Environment variables of the tests: interpreters, and the built command."""
    command = str(BUILD / "apps/cli/tidemark")
    python = python_of(group.python)
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TIDEMARK_BIN": command, "TIDEMARK": command}
    variables |= {"TIDEMARK_BUILD_DIR": str(BUILD), "TIDEMARK_PYTHON": python}
    variables["PATH"] = f"{pathlib.Path(python).parent}:{os.environ['PATH']}"
    for name, folder in (("26", ".venv-torch-2.6"), ("211", ".venv-torch-2.11")):
        if group.needs == "all" and (ROOT / folder).exists():
            variables[f"TIDEMARK_PYTHON_{name}"] = python_of(folder)
    return variables | {name: value.replace("ROOT", str(ROOT)) for name, value in group.environment.items()}


def prepare(selected):
    """Torch's extension is compiled before the tests, whose time it is not; --ship keeps it for the wheel."""
    done = set()
    for group in selected:
        if group.paths and group.level != "fast" and (python := python_of(group.python)) not in done:
            done.add(python)
            command = [BUILD / "apps/cli/tidemark", "prepare", "--python", python, "--ship", BUILD / "extensions"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def ctest(selected, level, stop):
    """All groups that are ctest's labels, in one call."""
    report = RESULTS / "ctest.xml"
    levels = {"fast": "fast", "default": "fast|default", "all": "fast|default|slow"}[level]
    labels = f"^({'|'.join(group.ctest for group in selected)})[.]({levels})$"
    command = ["ctest", "--test-dir", BUILD, "-j2", "-L", labels, "--output-on-failure", "--no-tests=error"]
    command += ["--output-junit", report]
    command += ["--stop-on-failure"] * stop
    done = subprocess.run(command, env=environment_of(selected[0]), capture_output=True, text=True)
    if done.returncode:  # two lines for each of a thousand tests tell nothing else
        shown = re.sub(r"(?m)^ *(Start +\d+:.*|\d+/\d+ Test .* Passed .*)\n", "", done.stdout)
        print(shown[-OUTPUT_CHARACTERS:] + done.stderr, flush=True)
    return done.returncode, report


def pytest(selected, level, stop):
    """Groups of one environment, in one call."""
    first = selected[0]
    report = RESULTS / f"pytest-{first.name}.xml"
    python = python_of_pytest()
    shares = "load" if python.startswith("/usr/") else "worksteal"  # Debian 12 has pytest-xdist 3.1
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    command += ["-n", "0"] if first.serial else ["-n", "2", "--dist", shares]
    command += ["-m", "not slow"] * (level != "all") + ["-k", first.select] * bool(first.select)
    paths = [path for group in selected for path in group.paths]
    return subprocess.run([*command, *["-x"] * stop, *paths], cwd=ROOT, env=environment_of(first)).returncode, report


def batches(selected, one_by_one):
    """(function that runs them, groups that go by one call of it)"""
    by_call = {}
    for group in selected:
        kind = ctest if group.ctest else pytest if group.paths else own_command
        alone = one_by_one or kind is own_command or group.select or group.serial or group.environment
        call = (kind.__name__, group.name if alone else f"{group.python} {group.needs}")
        by_call.setdefault(call, (kind, []))[1].append(group)
    return list(by_call.values())


def own_command(selected, level, stop):
    (group,) = selected
    words = [word.replace("ROOT", str(ROOT)) for word in group.command]
    return subprocess.run(words, cwd=ROOT, env=environment_of(group)).returncode, None


def counts(report):
    """(tests, failures, skipped) of a JUnit file."""
    if report is None or not report.exists():
        return 0, 0, 0
    suites = list(xml.etree.ElementTree.parse(report).getroot().iter("testsuite"))
    number = lambda key: sum(int(suite.get(key) or 0) for suite in suites)
    return number("tests"), number("failures") + number("errors"), number("skipped")


def run(selected, level, stop):
    """Runs them; the rows of the closing table."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    rows = []
    for function, together in batches(sorted(selected, key=lambda group: stop and group.minutes), stop):
        began = time.monotonic()
        status, report = function(together, level, stop)
        seconds = time.monotonic() - began
        tests, failed, skipped = counts(report)
        rows.append((" ".join(group.name for group in together), tests, failed, skipped, seconds, status))
        if stop and status:
            break
    return rows


def closing(rows, seconds):
    """Prints how it ended; the exit code."""
    print()
    for names, tests, failed, skipped, took, status in rows:
        verdict = "passed" if status == 0 else f"FAILED (exit code {status})"
        print(f"{verdict:8} {tests:5} tests, {failed} failed, {skipped} skipped, {took:6.0f} s  {names}")
    failures = sum(row[5] != 0 for row in rows)
    total = sum(row[1] for row in rows)
    minutes, rest = divmod(round(seconds), 60)
    print(f"{'FAILED' if failures or not rows else 'passed'}: {total} tests in {minutes} min {rest} s, set-up included")
    return 1 if failures or not rows else 0


def main(words):
    began = time.monotonic()
    options = parsed(words)
    groups, folders = table.load()
    if options.table:
        print(table.markdown(groups))
        return 0
    if options.groups_of:
        print(" ".join(table.groups_of(options.groups_of, folders)))
        return 0
    selected, level = selection(options.what, options.level, groups, folders)
    if not selected:
        print("passed: the change touches no group of tests")
        return 0
    if not options.as_built:
        set_up(selected, level)
        prepare(selected)
    return closing(run(selected, level, options.stop), time.monotonic() - began)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except table.Unknown as unknown:
        sys.exit(f"tools/test.sh: {unknown}")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"tools/test.sh: set-up failed: {' '.join(map(str, failed.cmd))} ended with exit code {failed.returncode}")
