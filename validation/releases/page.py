"""Writes docs/releases.md: which releases of torch and transformers both engines were tried with, and what differs.

    python validation/releases/page.py [--check | --tests | --settle FILE]

Everything on it is counted in outcomes/*.jsonl, which tools/releases.sh writes, one file a release; of a test that was run again, the last
outcome counts.  With --check nothing is written, and the exit code is 1 when the page is not the one that would be; --tests prints the files of the table's tests; --settle leaves
one row a test in a file of outcomes, the last.
"""

import difflib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/releases.md"
OUTCOMES = Path(__file__).resolve().parent / "outcomes"
BASE = "2.11.0"  # the release that all goldens are recorded on first

# A group of tests: (what the table calls it, the engine, how the tests' names begin)
GROUPS = (
    ("programs of `examples/`", "run", ("examples/test_examples.py",)),
    ("many GPUs: DDP, FSDP, ZeRO, TP, PP, CP, EP", "run", ("examples/test_many_gpus.py",)),
    ("launchers, notebooks, frameworks", "run", ("examples/test_frameworks.py",)),
    ("weights that are not there", "run", ("examples/test_fake_weights.py",)),
    ("what programs do: loops, workers, endings", "run", ("examples/test_programs.py",)),
    ("compiled and fused kernels, quantised weights", "run", ("oracle/test_compiled_kernels.py",)),
    ("neutrality, true integers, sizes", "run", ("oracle/test_neutral.py", "oracle/test_true_integers.py", "oracle/test_sizes.py")),
    ("trainings of `validation/measure`, to the byte", "predict", ("oracle/test_predict.py::test_every",)),
)
INTRODUCTION = """# Releases

Both engines on releases of torch and transformers, oldest to newest: made by `tools/releases.sh`, which installs each release in an environment of its own and runs the tests
below with it. `7 of 8` means that seven passed and one did not; what did not is listed under the table, as are tests whose packages do not exist for that torch. `1 not run`: that many tests of the group were not tried with this release. One that is not
here is not refused: a newer torch runs with what can be prepared for it, and `predict` takes the newest rules that are known; both say so in the report. [Serving](howto/serving.md) has the engines that are followed: vLLM 0.33.0.
"""


def version_key(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def read(path):
    """(about the release, {test: row})"""
    about, *rows = map(json.loads, path.read_text().splitlines())
    return about, {row["test"]: row for row in rows}


def settle(path):
    """Only a file that no run writes any more."""
    about, tests = read(path)
    path.write_text("".join(json.dumps(row) + "\n" for row in (about, *tests.values())))


def cell(rows, missing=0):
    counted = [row["outcome"] for row in rows if row["outcome"] != "skipped"]
    told = f"{counted.count('passed')} of {len(counted)}"
    return (f"{told}, {missing} not run" if missing else told) if counted else "not run"


def missing(base, tests, prefixes):
    """How many of the base's tests of a group this release was not tried with.  The base's are also run with a second, older torch."""
    return sum(name.startswith(prefixes) and "torch-2.6]" not in name and name not in tests for name in base)


def base_of(releases):
    return next(tests for about, tests in releases if about["torch"] == BASE)


def summary(releases):
    heads = [f"torch {about['torch']}, transformers {about['transformers']}" for about, _ in releases]
    lines = ["| | | " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * len(heads)]
    base = base_of(releases)
    for title, engine, prefixes in GROUPS:
        cells = [cell([row for name, row in tests.items() if name.startswith(prefixes)], missing(base, tests, prefixes)) for _, tests in releases]
        lines.append(f"| `{engine}` | {title} | " + " | ".join(cells) + " |")
    return lines


def peaks(releases):
    """Peaks of the programs, in bytes; a release's are left out where they are the base's."""
    base = base_of(releases)
    names = [name for name, row in base.items() if name.startswith("examples/test_examples.py::test_example[") and row["peaks"]]
    lines = ["| allocated / reserved bytes | " + " | ".join(f"torch {about['torch']}, transformers {about['transformers']}" for about, _ in releases) + " |", "| --- |" + " ---: |" * len(releases)]
    for name in names:
        cells = []
        for about, tests in releases:
            found = tests.get(name, {"outcome": "not run", "peaks": []})
            if found["peaks"] and tests is not base and found["peaks"] == base[name]["peaks"]:
                cells.append("=")
            else:
                cells.append("{:,} / {:,}".format(*found["peaks"][0]) if found["peaks"] else found["outcome"])
        lines.append(f"| {name.split('[')[1].rstrip(']')} | " + " | ".join(cells) + " |")
    return lines


def exceptions(releases):
    lines = []
    for about, tests in releases:
        apart = [row for row in tests.values() if row["outcome"] != "passed"]
        if apart:
            lines += [f"**torch {about['torch']}, transformers {about['transformers']}** (Python {about['python']}):", ""]
            lines += [f"- {row['outcome']}: `{row['test']}`" + (f": {row['why']}" if row["why"] else "") for row in sorted(apart, key=lambda row: (row["outcome"], row["test"]))] + [""]
    return lines


def page():
    releases = sorted((read(path) for path in OUTCOMES.glob("*.jsonl")), key=lambda release: (version_key(release[0]["torch"]), version_key(release[0]["transformers"])))
    return (
        "\n".join(
            [
                INTRODUCTION,
                *summary(releases),
                "",
                "## Peaks of the programs",
                "",
                f"`=`: as on torch {BASE}. Where they differ, the release does: PyTorch's own allocator counted both.",
                "",
                *peaks(releases),
                "",
                "## What did not pass, or could not be tried",
                "",
                *exceptions(releases),
            ]
        ).rstrip()
        + "\n"
    )


def files():
    """The files that the table's tests stand in, each once."""
    return list(dict.fromkeys("tests/" + prefix.split("::")[0] for _, _, prefixes in GROUPS for prefix in prefixes))


def main():
    if "--tests" in sys.argv[1:]:
        print("\n".join(files()))
        return 0
    if "--settle" in sys.argv[1:]:
        settle(Path(sys.argv[-1]))
        return 0
    text = page()
    if "--check" in sys.argv[1:]:
        difference = list(difflib.unified_diff(PAGE.read_text().splitlines(), text.splitlines(), "docs/releases.md", "what the outcomes say", lineterm=""))
        print("\n".join(difference))
        return 1 if difference else 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
