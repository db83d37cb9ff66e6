"""A pytest plugin (`-p outcomes`, with this folder on PYTHONPATH): writes down how each test ended, for the table of releases.

TIDEMARK_OUTCOMES=FILE: one JSON object per test: its name, how it ended and why, the peaks that it saw (`user_properties`), and the commit that was tried (TIDEMARK_COMMIT).
"""

import json
import os


def _why(report):
    if report.skipped:
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message.splitlines()[0][:200] if crash else ""


def pytest_runtest_logreport(report):
    if (report.when != "call" and report.passed) or "PYTEST_XDIST_WORKER" in os.environ:  # the controller has it all
        return
    row = {"test": report.nodeid.removeprefix("tests/"), "outcome": report.outcome, "why": _why(report), "peaks": [value for name, value in report.user_properties if name == "peak"], "commit": os.environ.get("TIDEMARK_COMMIT", "")}
    with open(os.environ["TIDEMARK_OUTCOMES"], "a") as file:
        file.write(json.dumps(row) + "\n")
