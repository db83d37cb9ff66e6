"""Runs the programs described in this folder under `tidemark run` and writes down how each ended, for docs/programs.md (page.py).

programs.py [NAME …]     all, or these; tools/programs.sh sets what the environment must say
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import described
import environments
import measured

OUTCOMES = described.HERE / "outcomes"
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1"}
ENDED = {0: "ran", 1: "does not fit"}


def standins_of(description, base):
    """{name: folder} of what it wants; each is made once."""
    made = {}
    functions = "".join((described.HERE / name).read_text() for name in ("made.py", "standin_data.py", "standin_models.py"))
    for name, arguments in description["standins"].items():
        about = json.dumps([arguments, functions], sort_keys=True)
        folder = environments.CACHE / "standins" / f"{arguments['kind']}-{hashlib.sha256(about.encode()).hexdigest()[:12]}"
        with environments.locked(folder):
            if not folder.exists():
                part = folder.with_name(folder.name + ".part")
                shutil.rmtree(part, ignore_errors=True)
                rest = {key: value for key, value in arguments.items() if key != "kind"}
                subprocess.run([base, described.HERE / "standins.py", arguments["kind"], part, json.dumps(rest)], check=True)
                part.rename(folder)
        made[name] = folder
    return made


def first_error(text):
    """The line that says what went wrong: the last one of the first traceback, else what was said last.  Without this machine's folders."""
    lines = text.replace(f"{environments.ROOT}/", "").splitlines()
    for index, line in enumerate(lines):
        if "Traceback (most recent call last)" in line:
            before = line.split("Traceback")[0]  # launchers put the rank before every line
            rest = [one.removeprefix(before) for one in lines[index + 1 :]]
            ending = next((one for one in rest if one and not one[0].isspace()), "")
            if ending:
                return ending[:300]
    told = [line for line in lines if line.startswith("tidemark")] or [line for line in lines if line.strip()]
    return told[-1][:300] if told else ""


def environment_of(description, python, base, values, scratch):
    given = {key: described.filled(value, values) for key, value in description["environment"].items()}
    path = os.pathsep.join([str(python.parent), str(Path(base).parent), os.environ["PATH"]])
    (scratch / "t").mkdir()
    return {**os.environ, **OFFLINE, "PATH": path, "HF_HOME": str(scratch / "hub"), "TMPDIR": str(scratch / "t"), **given}


def prepared(name, base, scratch):
    """(description, command, options of a process) of a program that is ready to run."""
    description = described.read(name)
    python = environments.environment(base, description["packages"])
    source = environments.source(description, python)
    if description["inside"]:
        source = Path(shutil.copytree(source, scratch / "source", symlinks=True))
    folder = scratch / "w"
    folder.mkdir()
    made = standins_of(description, base)
    values = {"source": source, "here": described.HERE, "scratch": folder, **made}
    for place, standin in description["placed"].items():
        path = (source if description["inside"] else folder) / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(made[standin])
    options = {"env": environment_of(description, python, base, values, scratch), "cwd": source if description["inside"] else folder}
    for command in description["before"]:
        done = subprocess.run([described.filled(word, values) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
        if done.returncode:
            raise environments.Missing(f"`{' '.join(command)}` before it: {first_error(done.stderr)}")
    command = [str(python) if word == "python" else described.filled(word, values) for word in description["command"]]
    return description, python, command, options


def try_program(name, base, tidemark):
    """The row of one program."""
    with tempfile.TemporaryDirectory(prefix="tp-", dir="/tmp", ignore_cleanup_errors=True) as folder:  # short: sockets of workers lie in it
        scratch = Path(folder)
        try:
            description, python, command, options = prepared(name, base, scratch)
        except environments.Missing as missing:
            return {"program": name, "outcome": "skipped", "why": str(missing)}
        report = scratch / "report.json"
        begun = time.monotonic()
        words = [tidemark, "run", "--gpu", description["gpu"], "--json", report, *description["options"], "--", *command]
        seconds = round(description["seconds"] * float(os.environ.get("PROGRAMS_PATIENCE", 1)))
        done = measured.run(list(map(str, words)), seconds, scratch, **options)
        row = {
            "program": name,
            **ending(done, seconds),
            "wall_seconds": round(time.monotonic() - begun, 1),
            "cpu_seconds": round(done.cpu_seconds, 1),
            "host_bytes": done.host_bytes,
            "versions": environments.versions(python, wanted(description)),
        }
        keep(scratch, name)
        return {**row, **(of_report(json.loads(report.read_text())) if report.exists() and report.stat().st_size else {})}


def keep(scratch, name):
    """PROGRAMS_LOGS=FOLDER keeps what a program said and what was reported of it."""
    if os.environ.get("PROGRAMS_LOGS"):
        folder = Path(os.environ["PROGRAMS_LOGS"], name)
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("output.txt", "errors.txt", "report.json"):
            if (scratch / file).exists():
                shutil.copy(scratch / file, folder)


def ending(done, seconds):
    if done.exit_code is None:
        return {"outcome": "failed", "exit_code": None, "why": f"was not over after {seconds} s"}
    outcome = ENDED.get(done.exit_code, "failed")
    return {"outcome": outcome, "exit_code": done.exit_code, "why": "" if outcome == "ran" else first_error(done.errors)}


def wanted(description):
    """The packages whose versions are worth saying."""
    installed = [re.split(r"[=<>\[ ]", word)[0] for arguments in description["packages"] for word in arguments if not word.startswith("-")]
    return sorted({"torch", "transformers", *([description["source"]["package"]] if "package" in description["source"] else []), *installed})


def of_report(report):
    peak = report["peak"]
    at_least = bool(report.get("varying_inputs")) and report.get("script", {}).get("stopped_after_steps") is not None
    return {"peak": [peak[kind] for kind in ("allocated_bytes", "reserved_bytes", "device_bytes")], "steps": len(report.get("steps", [])), "at_least": at_least}


def about(base):
    python = subprocess.run([base, "-c", "import platform; print(platform.python_version())"], check=True, capture_output=True, text=True).stdout.strip()
    return {**environments.versions(base, ["torch", "transformers"]), "python": python}


def store(path, heading, rows):
    """Rows of programs that were not tried now stay as they are.  Two of us may be at it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        kept = {row["program"]: row for row in map(json.loads, file.read().splitlines()[1:])}
        kept.update((row["program"], row) for row in rows)
        file.truncate(0)
        file.write("".join(json.dumps(row) + "\n" for row in (heading, *(kept[name] for name in sorted(kept) if name in set(described.names())))))


def main():
    base, tidemark = os.environ["TIDEMARK_PYTHON"], os.environ["TIDEMARK_BIN"]
    heading = about(base)
    path = OUTCOMES / f"torch-{heading['torch']}-transformers-{heading['transformers']}.jsonl"
    if unknown := set(sys.argv[1:]) - set(described.names()):
        sys.exit(f"there is no program `{min(unknown)}`; there are {', '.join(described.names())}")
    for name in sys.argv[1:] or described.names():
        row = try_program(name, base, tidemark)
        store(path, heading, [row])
        print(f"{name}: {row['outcome']}" + (f": {row['why']}" if row["why"] else f", {row['wall_seconds']} s, host {row['host_bytes'] / 2**30:.2f} GiB"), flush=True)


if __name__ == "__main__":
    main()
