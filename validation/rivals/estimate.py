"""Asks every rival about every training of validation/xmem and writes estimates.jsonl beside its rows.

    python estimate.py [--only ESTIMATOR …] [--missing]

They run in the environment of install.sh, under `tidemark run` (TIDEMARK_BIN, or the release build, or the path): they find a
virtual card, and no GPU is needed.  With --missing, what is stored stays.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

import ask
import rivals
import training

ROOT = training.HERE.parents[1]
ESTIMATES = training.CORPUS / "estimates.jsonl"
ENVIRONMENT = ROOT / ".venv-rivals"
CARD = "rtx-3060"


def stored():
    """{(id, estimator): answer}"""
    lines = ESTIMATES.read_text().splitlines() if ESTIMATES.exists() else []
    return {(answer["id"], answer["estimator"]): answer for answer in map(json.loads, lines)}


def store(answer, trainings):
    """Beside what is stored by now, in the order of the trainings, whatever the order in which they are asked."""
    answers = {**stored(), (answer["id"], answer["estimator"]): answer}
    wanted = ((one.id, name) for one in trainings for name in rivals.RIVALS)
    ESTIMATES.write_text("".join(json.dumps(answers[key]) + "\n" for key in wanted if key in answers))


def tidemark():
    built = ROOT / "build" / "release" / "apps" / "cli" / "tidemark"
    return os.environ.get("TIDEMARK_BIN") or (str(built) if built.exists() else "tidemark")


def environment(release):
    chosen = dict(os.environ, TOKENIZERS_PARALLELISM="false", PYTHONWARNINGS="ignore")
    if release == training.OLDER:
        chosen["PYTHONPATH"] = str(ENVIRONMENT / "transformers-4.51")
    return chosen


def answers_to(questions):
    """Yields the answers to (estimator, training), each as soon as it is known."""
    by_release = collections.defaultdict(list)  # one process for each release of transformers: importing takes longer than most answers
    for name, one in questions:
        by_release[one.transformers].append((name, one))
    for release, asked in by_release.items():
        yield from ask_in_environment(release, asked)


def ask_in_environment(release, questions):
    """A process that dies is an error; what it answered until then has been handed on."""
    with tempfile.TemporaryDirectory() as folder:
        asked, errors = pathlib.Path(folder, "asked"), pathlib.Path(folder, "errors")
        asked.write_text("".join(json.dumps([name, dataclasses.asdict(one)]) + "\n" for name, one in questions))
        command = [tidemark(), "run", "--gpu", CARD, "--keep-going", "--quiet", "--", str(ENVIRONMENT / "bin" / "python"), str(training.HERE / "ask.py"), str(asked)]
        with errors.open("w") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(release)) as process:
            yield from (json.loads(line.removeprefix(ask.MARK)) for line in process.stdout if line.startswith(ask.MARK))
        if process.returncode != 0:
            raise SystemExit(f"with transformers {release}: exit code {process.returncode}\n{errors.read_text()[-3000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=rivals.RIVALS, default=list(rivals.RIVALS))
    parser.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()
    trainings, known = training.trainings(), stored() if arguments.missing else {}
    for answer in answers_to([(name, one) for name in arguments.only for one in trainings if (one.id, name) not in known]):
        store(answer, trainings)


if __name__ == "__main__":
    main()
