"""Files in the run folder by which the processes of one server inform each other; each is whole or absent."""

import contextlib
import glob
import json
import os
import time

LOOK_AGAIN_S = 0.1
_REPORT_S = 600
ENGINE, REQUESTS = "serving-engine.json", "serving-requests.json"
ASKED = "serving-asked"  # nothing more is asked: whoever used the card writes its report; with `-PID`, that process
SERVED = "served"  # the launcher ends the server (apps/cli/child.cpp)


def write(run_dir, name, value):
    path = os.path.join(run_dir, name)
    with open(path + f".new-{os.getpid()}", "w") as file:
        json.dump(value, file)
    os.replace(file.name, path)


def read(run_dir, name):
    """An empty dictionary if the file is absent."""
    try:
        with open(os.path.join(run_dir, name)) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def exists(run_dir, name):
    return os.path.exists(os.path.join(run_dir, name))


def wait_for_reports(run_dir, among=None):
    """Until no process (of the pids `among`, if given) that used the card is left that has neither a report nor ended."""
    until = time.monotonic() + _REPORT_S
    while _without_report(run_dir, among) and time.monotonic() < until:
        time.sleep(LOOK_AGAIN_S)


def _without_report(run_dir, among):
    pids = [path.rpartition("-")[2] for path in glob.glob(os.path.join(glob.escape(run_dir), "card-used-*"))]
    over = lambda pid: exists(run_dir, f"report-{pid}.json") or exists(run_dir, f"failure-{pid}.txt") or _has_ended(int(pid))
    return [pid for pid in pids if (among is None or int(pid) in among) and not over(pid)]


def _has_ended(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"
    return True
