"""`tidemark plan --vary` around programs whose reports say what they are told to need."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

# Needs what the expression `gib` says of b and s on the H100's 79.2 GiB, where the context and the driver take 0.6 to 0.9; notes each of its runs.
GROWING = """
import json, os, sys, time
b, s = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
open("runs.txt", "a").write(f"{b} {s}\\n")
%(first)s
reserved = int((%(gib)s) * 2**30)
report = {"schema": "tidemark.report/1", "engine": "run", "versions": {"torch": "2.11.0"}, "oom": None,
          "peak": {"allocated_bytes": reserved, "reserved_bytes": reserved, "step": 2, "phase": "backward"}}
if reserved > 78 << 30:   # all that the card lets it have
    report["peak"].update(allocated_bytes=78 << 30, reserved_bytes=78 << 30)
    report["oom"] = {"requested_bytes": 1 << 30, "message": "CUDA out of memory.", "step": 1, "phase": "backward", "where": "train.py:3"}
with open(os.path.join(os.environ["TIDEMARK_RUN_DIR"], "report-%%d.json" %% os.getpid()), "w") as file:
    json.dump(report, file)
print("from the script")
sys.exit(1 if report["oom"] else 0)
"""


@pytest.fixture
def growing(script):
    """growing(gib, first="") -> path of a program that takes b and s."""
    return lambda gib, first="": script(GROWING % {"gib": gib, "first": first})


@pytest.fixture
def runs(folders):
    """The (b, s) of all runs so far."""
    return lambda: [tuple(map(int, line.split())) for line in (folders / "work" / "runs.txt").read_text().splitlines()]


PLAN = ("plan", "--gpu", "h100-80gb")


def test_one_name(tidemark, ready, growing, python, runs, folders):
    program = growing("20 + 2.5 * b")
    done = tidemark(*PLAN, "--vary", "b=1..64", "--json", "r.json", "--", python, program, "{b}")
    assert done.returncode == 0, done.stderr
    first, fits, fails, counts = done.stdout.splitlines()
    assert first == "b=23 is the largest that fits"
    assert fits.startswith("  b=23: fits: peak 78.1 GiB of 79.2 GiB") and fails.startswith("  b=24: does not fit: out of memory at step 1")
    assert counts == "  4 runs for 64 configurations; assumed: memory grows with b"
    assert len(done.stderr.splitlines()) == 4  # a line for each run, no more, and nothing of the programs' own
    tried = runs()
    assert len(tried) == len(set(tried)) == 4 and {(23, 1), (24, 1)} <= set(tried)
    result = json.loads((folders / "work" / "r.json").read_text())
    assert result["schema"] == "tidemark.vary/1" and result["largest"] == [{"b": "23"}] and result["contradictions"] == []
    assert {run["values"]["b"]: run["fits"] for run in result["runs"]} == {str(b): b <= 23 for b, _ in tried}
    # … as they come out when run alone
    for b, code in ((23, 0), (24, 1)):
        assert tidemark("run", "--gpu", "h100-80gb", "--", python, program, b).returncode == code


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_jobs_change_no_answer(tidemark, ready, growing, python, runs, jobs):
    done = tidemark(*PLAN, "--vary", "b=1..500*2", "--jobs", jobs, "--", python, growing("3 + b ** 1.5 / 40"), "{b}")
    assert done.returncode == 0 and done.stdout.startswith("b=128 is the largest that fits\n"), done.stderr
    assert len(set(runs())) == len(runs()) <= 6


def test_the_last_value_may_fit(tidemark, ready, growing, python):
    done = tidemark(*PLAN, "--vary", "b=4,8,16", "--", python, growing("b"), "{b}")
    assert done.returncode == 0 and "b=16 is the largest that fits\n" in done.stdout
    assert "  16 is the last value that was asked about\n" in done.stdout


def test_nothing_fits(tidemark, ready, growing, python, folders):
    done = tidemark(*PLAN, "--vary", "b=8..64", "--json", "-", "--", python, growing("90 + b"), "{b}")
    assert done.returncode == 1
    assert "nothing fits: b=8 needs at least 79.6 GiB of 79.2 GiB\n" in done.stderr  # 78 and 1 GiB and what is beside them
    assert json.loads(done.stdout)["largest"] == []


def test_two_names(tidemark, ready, growing, python, runs, folders):
    done = tidemark(*PLAN, "--vary", "b=1..12", "--vary", "s=512..2048:512", "--json", "r.json", "--", python, growing("20 + b * s / 256"), "{b}", "{s}")
    assert done.returncode == 0, done.stderr
    # 57 GiB and a little are left: b * s up to 14592 or so
    assert json.loads((folders / "work" / "r.json").read_text())["largest"] == [{"b": "7", "s": "2048"}, {"b": "9", "s": "1536"}, {"b": "12", "s": "1024"}]
    assert re.search(r"\n +b +s +peak .*\n +7 +2048 .*\n +9 +1536 .*\n +12 +1024 ", done.stdout)
    assert len(set(runs())) == len(runs()) <= 16


def test_a_run_against_what_is_assumed_is_reported(tidemark, ready, growing, python):
    done = tidemark(*PLAN, "--vary", "b=1..8", "--jobs", "8", "--", python, growing("99 if b == 5 else 10 + b"), "{b}")
    assert done.returncode == 0 and "b=4 is the largest that fits\n" in done.stdout
    assert "  against what is assumed: b=5: does not fit: out of memory" in done.stdout and ", and b=6: fits: peak " in done.stdout


@pytest.mark.parametrize(
    "first, code, message",
    [
        ("if b == 8: raise ValueError('a batch of 8')", 4, "ValueError: a batch of 8"),
        ("if b == 8: sys.exit(1)", 4, "the program ended with exit code 1 before it used the card"),
        ("if b == 8: sys.exit()", 4, "the program ended without using CUDA"),
        ("if b == 8: os.kill(os.getpid(), 9)", 4, "ended by signal 9"),
    ],
)
def test_a_run_that_fails_ends_the_search(tidemark, ready, growing, python, first, code, message):
    done = tidemark(*PLAN, "--vary", "b=1..64", "--", python, growing("20 + b", first), "{b}")
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr and re.search(r"tidemark: b=8: the run ended with exit code \d+ \(above\), and with it the search\n$", done.stderr)


WRONG = [
    (["--vary", "b=1..64"], ["x"], "{b} is nowhere in the command"),
    (["--vary", "b=1..64"], ["x", "{{b}}"], "{b} is nowhere in the command"),
    (["--vary", "batch=1..64"], ["x", "{batch}", "{bacth}"], "did you mean {batch}?"),
    (["--vary", "b=64..1"], ["x", "{b}"], "there is no value from 64 to 1"),
    (["--vary", "b"], ["x", "{b}"], '"b" is not NAME=VALUES'),
    (["--vary", "b=1..4", "--vary", "b=8"], ["x", "{b}"], "it is varied twice"),
    ([], ["x", "{b}"], "nothing is varied"),
    (["--vary", "b=1..4", "--jobs", "0"], ["x", "{b}"], "not a number of runs"),
    (["--vary", "b=1..4", "--steps", "2", "--keep-going"], ["x", "{b}"], "cannot be combined with --steps"),
    (["--vary", "b=1..4", "--steps", "none"], ["x", "{b}"], "--steps"),
    (["--vary", "b=1..4", "--memory", "80"], ["x", "{b}"], "80"),
    (["--vary", "b=1..4", "--json", "missing/r.json"], ["x", "{b}"], "does not exist"),
    (["--vary", "b=1..4", "--stesp", "2"], ["x", "{b}"], "did you mean --steps?"),
    (["--vary", "b=1..4", "--html", "x.html"], ["x", "{b}"], "there is no option --html"),
    (["--vary", "b=1..4"], [], "a command is missing"),
]


@pytest.mark.parametrize("options, command, message", WRONG, ids=[message for _, _, message in WRONG])
def test_what_is_wrong_is_said_before_anything_runs(tidemark, options, command, message):
    done = tidemark(*PLAN, *options, "--", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr, done.stderr


def test_the_card_must_be_known(tidemark):
    done = tidemark("plan", "--gpu", "h1000", "--vary", "b=1..4", "--", "x", "{b}")
    assert done.returncode == 2 and "h100" in done.stderr
    done = tidemark("plan", "--vary", "b=1..4")
    assert done.returncode == 2 and "a command is missing" in done.stderr


def test_options_of_run_are_passed_on(tidemark, ready, growing, python):
    first = "assert (os.environ['TIDEMARK_STEPS'], os.environ['TIDEMARK_FAKE_WEIGHTS'], os.environ['TIDEMARK_RANKS']) == ('5', '1', '2')"
    done = tidemark("plan", "--gpu", "t4", "--memory", "40GiB", "--gpus", "2", "--steps", "5", "--fake-weights", "--vary", "b=1..64", "--", python, growing("b", first), "{b}")
    assert done.returncode == 0, done.stderr
    assert re.match(r"b=39 is the largest that fits\n", done.stdout)


def test_a_terminal_shows_what_goes_on(on_a_terminal, ready, growing, python):
    code, shown = on_a_terminal(*PLAN, "--vary", "b=1..4", "--", python, growing("b", "time.sleep(1)"), "{b}")
    assert code == 0
    assert re.search(r"0 done, now b=1, b=\d  \d+ s", shown) and "b=4: fits: peak " in shown


def test_a_signal_ends_all_of_it(start, ready, growing, python, folders):
    process = start(*PLAN, "--vary", "b=1..4", "--", python, growing("b", "open(f'pid-{b}', 'w').write(str(os.getpid())); time.sleep(600)"), "{b}", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waiting = lambda: [path for path in (folders / "work").glob("pid-*") if path.read_text()]
    while len(waiting()) < min(2, os.cpu_count()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    for path in waiting():
        assert not pathlib.Path("/proc", path.read_text()).exists()
    assert list((folders / "tmp").iterdir()) == [], "files were left behind"
