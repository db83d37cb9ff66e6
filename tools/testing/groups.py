"""The groups of tests: tests/groups.toml, read and asked."""

import dataclasses
import pathlib
import subprocess

import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/groups.toml"
LEVELS = ("fast", "default", "all")


class Unknown(Exception):
    """A name that no group has; the message lists the names."""


@dataclasses.dataclass
class Group:
    """One entry of tests/groups.toml."""

    name: str
    level: str  # the first of LEVELS that runs it
    proves: str
    minutes: float = 0  # of the tests that the default level runs, 2 cores; 0: not measured
    all_minutes: float = 0  # of all its tests
    ctest: str = ""  # label
    paths: tuple = ()  # of pytest
    command: tuple = ()  # instead of both
    python: str = ".venv"  # the environment whose interpreter the tests' programs run with
    select: str = ""  # pytest -k
    needs: str = "tests"  # tools/setup.sh --NEEDS
    environment: dict = dataclasses.field(default_factory=dict)
    serial: bool = False


def load(table=TABLE):
    """({name: Group} in the table's order, {folder: [group name]})"""
    entries = tomllib.loads(table.read_text())
    folders = entries.pop("folders")
    groups = {}
    for name, entry in entries.items():
        entry["paths"] = tuple(entry.get("paths", ()))
        entry["command"] = tuple(entry.get("command", ()))
        groups[name] = Group(name=name, **entry)
    return groups, folders


def chosen(groups, names):
    """The named groups, in the order of the table."""
    if unknown := [name for name in names if name not in groups]:
        raise Unknown(f"no group of tests is called {unknown[0]}; there are: {', '.join(groups)}")
    return [group for name, group in groups.items() if name in names]


def of_level(groups, level):
    return [group for group in groups.values() if LEVELS.index(group.level) <= LEVELS.index(level)]


def groups_of(file, folders):
    """Names of the groups of the longest folder (or file) of the table that holds the file; none for a file that no test reads."""
    parts = pathlib.PurePosixPath(file).parts
    for length in range(len(parts), 0, -1):
        if (names := folders.get("/".join(parts[:length]))) is not None:
            return names
    return folders["."]


def changed_files(base):
    """Paths that differ from `base`, uncommitted and untracked ones included."""

    def lines(*arguments):
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise Unknown(f"git {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.splitlines()

    since = lines("merge-base", base, "HEAD")[0]
    return sorted({*lines("diff", "--name-only", since), *lines("ls-files", "--others", "--exclude-standard")})


def names_for(files, folders):
    return {name for file in files for name in groups_of(file, folders)}


def markdown(groups):
    """The table of CONTRIBUTING.md."""
    rows = ["| group | runs in | minutes | minutes, all tests | proves |", "| --- | --- | ---: | ---: | --- |"]
    for group in groups.values():
        level = {"fast": "`fast`, default", "default": "default", "all": "`all`"}[group.level]
        default, whole = (f"{minutes:.1f}" if minutes else "not measured" for minutes in (group.minutes, group.all_minutes))
        rows.append(f"| `{group.name}` | {level} | {default if group.level != 'all' else ''} | {whole} | {group.proves} |")
    return "\n".join(rows)
