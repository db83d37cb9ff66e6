"""The programs that are tried: one file NAME.json each in this folder, and nowhere a list of them.

title       what the table calls it
source      where the program itself comes from: {"package": NAME}, as it lies in the environment; {"archive": "NAME==VERSION"}, the source archive of
            a package; or {"repository": "OWNER/NAME", "commit": HASH, "release": what its authors call that}, looked for under PROGRAMS_SOURCES, and
            of it only the `paths` where there are any
packages    what is installed for it, over the base environment: the arguments of `pip install`, a string for each call
standins    {name: {"kind": function of standins.py, further arguments}}: what a hub would give; `{name}` in the command is its folder
placed      {path in the working directory: stand-in}: where a program asks for a name of the hub, which a folder of that name answers
before      commands that run before, without Tidemark
command     what runs under `tidemark run`, in as many strings as read well; also in it: {source}, {here} (this folder's files), {scratch} (an empty folder, which is also the working directory)
inside      true: the working directory is a copy of the source
options     options of `tidemark run` over --gpu and --json
environment variables
seconds     after which it counts as failed
host        why it takes more than 4 GiB of the host's memory by itself, as a clause
stops       {release of torch: why the program ends there by itself, whatever card it has, as a clause}
live        true: tests/examples/test_public_programs.py runs it
"""

import inspect
import json
import re
import shlex
from pathlib import Path

import standin_models
import standins

HERE = Path(__file__).resolve().parent
KEYS = {"title", "source", "packages", "standins", "placed", "before", "command", "inside", "options", "environment", "seconds", "live", "gpu", "host", "stops"}
SOURCES = ({"package"}, {"archive"}, {"repository", "commit", "release"}, {"repository", "commit", "release", "paths"})
GIVEN = {"source", "here", "scratch"}


def names():
    return sorted(path.stem for path in HERE.glob("*.json"))


def read(name):
    """The description, with every key; commands in words."""
    defaults = {"packages": [], "standins": {}, "placed": {}, "before": [], "inside": False, "options": [], "environment": {}, "seconds": 900, "live": False, "host": "", "stops": {}, "gpu": "h100-80gb"}
    described = {**defaults, **json.loads((HERE / f"{name}.json").read_text())}
    words_of = {key: [shlex.split(text) for text in described[key]] for key in ("packages", "before", "command") if key in described}
    return {**described, **words_of, "command": sum(words_of.get("command", []), [])}


def words(description):
    """Every word in which a name in braces stands for something."""
    return [word for command in (*description["before"], description["command"]) for word in command] + list(description["environment"].values())


def filled(word, values):
    """`{name}` replaced; other braces stay, since programs take JSON."""
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), word)


def problems(name):
    """What is wrong with a description, in sentences."""
    described = read(name)
    for key in sorted(set(described) - KEYS):
        yield f"{name}.json: `{key}` is no key of a description"
    for key in sorted(key for key in ("title", "source", "command") if not described.get(key)):
        yield f"{name}.json: `{key}` is missing"
        return
    if set(described["source"]) not in SOURCES:
        yield f"{name}.json: `source` is one of {', '.join(str(sorted(keys)) for keys in SOURCES)}"
    if "commit" in described["source"] and not re.fullmatch(r"[0-9a-f]{40}", described["source"]["commit"]):
        yield f"{name}.json: `commit` has 40 digits"
    for standin, arguments in described["standins"].items():
        yield from (f"{name}.json: stand-in `{standin}`: {problem}" for problem in standin_problems(arguments))
    for found in re.findall(r"\{([a-z_]+)\}", " ".join(words(described))):
        if found not in GIVEN | set(described["standins"]):
            yield f"{name}.json: nothing gives {{{found}}}"
    for standin in set(described["placed"].values()) - set(described["standins"]):
        yield f"{name}.json: there is no stand-in `{standin}` to be placed"


def standin_problems(arguments):
    kind = arguments.get("kind")
    if kind not in standins.KINDS:
        return [f"there is no kind `{kind}`; there are {', '.join(sorted(standins.KINDS))}"]
    try:
        inspect.signature(standins.KINDS[kind]).bind("folder", **{key: value for key, value in arguments.items() if key != "kind"})
        if isinstance(arguments.get("config"), str):
            standin_models.recorded(arguments["config"])
    except (KeyError, TypeError) as error:
        return [str(error.args[0])]
    return []
