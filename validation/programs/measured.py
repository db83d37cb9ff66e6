"""Runs a command and measures what its whole process tree takes of the host's memory."""

import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

EVERY_SECONDS = 0.5 * float(os.environ.get("PROGRAMS_PATIENCE", 1))  # on a machine that does much else, programs are slower and looking costs them more


def tree(root):
    """The processes that `root` started and theirs, and those of its session whose parent has gone."""
    parents, sessions = {}, {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)], sessions[int(entry.name)] = int(fields[1]), int(fields[3])
    found = {root} | {process for process, session in sessions.items() if session == root}
    while True:
        more = {process for process, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def resident_bytes(process):
    """Proportional set size (proc(5), smaps_rollup): what processes share is counted once in the sum."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


class Finished:
    def __init__(self, exit_code, output, errors, host_bytes, cpu_seconds):
        self.exit_code, self.output, self.errors, self.host_bytes, self.cpu_seconds = exit_code, output, errors, host_bytes, cpu_seconds


def cpu_seconds():
    """Of processes that were started from here and waited for, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, seconds, folder, **options):
    """Finished; the exit code is None when the time was over.  Output is kept in files, so that nobody waits for a full pipe."""
    output, errors, before = Path(folder, "output.txt"), Path(folder, "errors.txt"), cpu_seconds()
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, **options)
        over, peak = threading.Event(), [0]

        def watch():
            while not over.wait(EVERY_SECONDS):
                peak[0] = max(peak[0], sum(map(resident_bytes, tree(process.pid))))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            exit_code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            exit_code = None
            for one in tree(process.pid):
                end(one)
            process.wait()
        finally:
            over.set()
            watcher.join()
    return Finished(exit_code, output.read_text(errors="replace"), errors.read_text(errors="replace"), peak[0], cpu_seconds() - before)


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
