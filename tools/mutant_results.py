"""Results of mutation tests: a file of JSON lines that grows as they come, and a table of them."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

TIMED_OUT = 124
FAILURES = ("[  FAILED  ]", "FAILED ", "***Failed", "***Exception", "***Timeout", "ERROR ")


class Results:
    """Rows of a file, in the order in which they came."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.rows = [json.loads(line) for line in lines if line.endswith("}")]

    def add(self, row):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a+b") as file:
            file.seek(max(file.tell() - 1, 0))
            begin = b"\n" if file.read() not in (b"", b"\n") else b""  # an interrupted line stays a line
            file.write(begin + json.dumps(row).encode() + b"\n")
        self.rows.append(row)
        return row

    def of_mutants(self):
        """{id: the row that caught it, else its last one}"""
        rows = {}
        for row in self.rows:
            if "id" in row and not rows.get(row["id"], {}).get("caught"):
                rows[row["id"]] = row
        return rows

    def has(self, mutant_id, group):
        """Whether the mutant was caught, or went through the group."""
        own = [row for row in self.rows if row.get("id") == mutant_id]
        return any(row["caught"] or row["group"] == group for row in own)


def run_timed(command, folder, environment, timeout_seconds):
    """Exit code, seconds and output; past the timeout the command is killed, and the code is TIMED_OUT."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
        try:
            code = process.wait(timeout_seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            code = TIMED_OUT
        output.seek(0)
        return code, round(time.monotonic() - begin, 1), output.read()


def failure(output):
    """The line that names the first test that failed, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = [line for line in lines if any(mark in line for mark in FAILURES)]
    return (named or lines[-1:] or [""])[0][:200]


def table(mutants, rows, group_of_part=None):
    """Markdown: how many mutants of each area the default level catches, and those that escaped."""
    whole = group_of_part or {}
    lines = ["| area | mutants | caught | by group |", "| --- | --- | --- | --- |"]
    for area in sorted({mutant.area for mutant in mutants}):
        own = [mutant for mutant in mutants if mutant.area == area]
        caught = [rows[mutant.id] for mutant in own if rows.get(mutant.id, {}).get("caught")]
        groups = collections.Counter(whole.get(row["group"], row["group"]) for row in caught)
        by_group = ", ".join(f"{group} {count}" for group, count in groups.most_common())
        lines.append(f"| {area} | {len(own)} | {len(caught)} | {by_group} |")
    state = {mutant.id: rows.get(mutant.id, {"caught": False}) for mutant in mutants}
    escaped = [mutant for mutant in mutants if state[mutant.id].get("escaped")]
    left = [mutant for mutant in mutants if not state[mutant.id]["caught"] and mutant not in escaped]
    lines += ["", f"Escaped: {len(escaped)}. Not tried in every group: {len(left)}."]
    if escaped:
        lines += ["", "| escaped | file | fault |", "| --- | --- | --- |"]
        lines += [f"| {mutant.id} | {mutant.file} | {mutant.why} |" for mutant in escaped]
    return "\n".join(lines)
