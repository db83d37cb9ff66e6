"""Writes docs/programs.md: which public programs run under `tidemark run`, on which release of torch, and what they take.

    python validation/programs/page.py [--check]

Everything on it is from outcomes/*.jsonl, which tools/programs.sh writes, one file a base environment.  With --check nothing is written, and the exit code
is 1 when the page is not the one that would be.
"""

import difflib
import json
import re
import sys

import described

ROOT = described.HERE.parents[1]
PAGE = ROOT / "docs/programs.md"
OUTCOMES = described.HERE / "outcomes"
MUCH_BYTES = 4 << 30
INTRODUCTION = """# Public programs

Programs that people train with, unmodified, from their packages or repositories, each started by `tidemark run` on a virtual GPU, with stand-ins for what a hub would give (a configuration
and `--fake-weights`, a small tokenizer, small data). Made by `tools/programs.sh`; a program is one file in [`validation/programs`](../validation/programs). `ran` is exit code 0: the program came to its
report. Bytes are of rank 0's card; `at least` where batches still varied when the run was stopped by itself. `host` is the most that the whole process tree held (proportional set size, looked at every half second, or two on a busy machine); wall time is
that of a machine of two cores with a load of some thirty other processes; processor time is what the program and Tidemark took of them.
"""


def version_key(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def read(path):
    """(about the base environment, {program: row})"""
    about, *rows = map(json.loads, path.read_text().splitlines())
    return about, {row["program"]: row for row in rows}


def releases():
    return sorted((read(path) for path in OUTCOMES.glob("*.jsonl")), key=lambda release: (version_key(release[0]["torch"]), version_key(release[0]["transformers"])))


def named(about):
    return f"torch {about['torch']}, transformers {about['transformers']}"


def from_where(description, row):
    """The program's own release, and what of the base environment it replaced."""
    source = description["source"]
    if "repository" in source:
        return f"[{source['repository']}](https://github.com/{source['repository']}/tree/{source['commit']}) {source['release']}"
    if "archive" in source:
        return source["archive"].replace("==", " ")
    return f"{source['package']} {row.get('versions', {}).get(source['package'], '')}".strip()


def cell(row):
    if row is None:
        return "not tried"
    return row["outcome"] if row["outcome"] != "failed" else f"failed ({row['exit_code']})"


def summary(tried):
    lines = ["| program | from | " + " | ".join(named(about) for about, _ in tried) + " |", "| --- | --- |" + " --- |" * len(tried)]
    for name in described.names():
        description = described.read(name)
        row = next((rows[name] for _, rows in reversed(tried) if name in rows), {})
        lines.append(f"| `{name}`: {description['title']} | {from_where(description, row)} | " + " | ".join(cell(rows.get(name)) for _, rows in tried) + " |")
    return lines


def gigabytes(count):
    return f"{count / 2**30:.2f} GiB"


def took(row):
    return f"{row['cpu_seconds']:.0f} s" if "cpu_seconds" in row else ""


def measured(about, rows):
    lines = ["", f"## {named(about)} (Python {about['python']})", "", "| program | exit code | allocated | reserved | device | wall | processor | host | |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for name in described.names():
        row = rows.get(name)
        if row is None or row["outcome"] == "skipped":
            continue
        peaks = [f"{count:,}" for count in row["peak"]] if "peak" in row else ["", "", ""]
        other = [f"transformers {row['versions']['transformers']}"] if row["versions"].get("transformers", about["transformers"]) != about["transformers"] else []
        notes = ", ".join(["at least"] * row.get("at_least", False) + other)
        lines.append(f"| `{name}` | {row['exit_code']} | " + " | ".join(peaks) + f" | {row['wall_seconds']:.0f} s | {took(row)} | {gigabytes(row['host_bytes'])} | {notes} |")
    return lines


def told(about, rows):
    """What did not run, and why; and what took much of the host."""
    known = [rows[name] for name in described.names() if name in rows]
    apart = [f"- `{row['program']}` {row['outcome']}: {plain(row['why'])}{clause(described.read(row['program'])['stops'].get(about['torch']))}" for row in known if row["outcome"] != "ran"]
    much = [f"`{row['program']}` ({gigabytes(row['host_bytes'])}{clause(described.read(row['program'])['host'])})" for row in known if row.get("host_bytes", 0) > MUCH_BYTES]
    return ([""] + apart if apart else []) + (["", f"More than {MUCH_BYTES >> 30} GiB of the host's memory: {', '.join(much)}."] if much else [])


def clause(why):
    return f": {why}" if why else ""


def plain(why):
    return "`" + why.replace("`", "'") + "`" if why else "nothing was said"


def page():
    tried = releases()
    return "\n".join([INTRODUCTION, *summary(tried), *(line for about, rows in tried for line in measured(about, rows) + told(about, rows))]).rstrip() + "\n"


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        difference = list(difflib.unified_diff(PAGE.read_text().splitlines(), text.splitlines(), "docs/programs.md", "what the outcomes say", lineterm=""))
        print("\n".join(difference))
        return 1 if difference else 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
