"""Memory that several streams use: when it is free again is decided by --event-order, and the report has both extremes."""

import json
import os
import subprocess
import sys

import pytest
from harness import PROGRAMS, PYTHON, ROOT, TIDEMARK, report_of, tidemark_run

pytestmark = pytest.mark.oracle

MIB = 1 << 20
ORDERS = ("instant", "clock", "late")


def run_in_order(order, *arguments, folder):
    report, output = report_of(PROGRAMS / "streams.py", *arguments, folder=folder, options=("--keep-going", "--event-order", order))
    words = output.split()
    assert (report["peak"]["reserved_bytes"], report["peak"]["allocated_bytes"]) == (int(words[1]), int(words[3]))
    assert report["consistent"]
    return report


def test_three_orders_three_answers(tmp_path):
    """2 MiB for the small tensor, 1 GiB for the slow one, and the blocks of 64 MiB of which none could be used again."""
    for order, segments in zip(ORDERS, (1, 2, 3)):
        report = run_in_order(order, "two", folder=tmp_path)
        assert report["peak"]["reserved_bytes"] == (2 + 1024 + 64 * segments) * MIB, order
        assert report["peak"]["allocated_bytes"] == (1024 + 64) * MIB + 512
        # From each of the runs the two extremes follow, by replaying it.
        assert report["interval"]["reserved_bytes"] == [(2 + 1024 + 64) * MIB, (2 + 1024 + 3 * 64) * MIB]
        assert report["interval"]["allocated_bytes"] == [(1024 + 64) * MIB + 512] * 2
        said = [row for row in report["assumptions"] if f"--event-order {order}" in row["what"]]
        assert [row["count"] for row in said] == [2]


@pytest.mark.slow("events that programs record")
def test_an_event_right_behind_a_free_may_be_the_programs(tmp_path):
    """The host has waited for what it was recorded behind: one block does, in every order and in every replay."""
    for order in ORDERS:
        report = run_in_order(order, "own", folder=tmp_path)
        assert report["peak"]["reserved_bytes"] == 64 * MIB
        assert report["interval"] is None


@pytest.mark.slow("intervals of random programs on several streams")
@pytest.mark.parametrize("seed", range(3))
def test_the_extremes_hold_what_the_runs_have(tmp_path, seed):
    reports = {order: run_in_order(order, "random", seed, folder=tmp_path) for order in ORDERS}
    for report in reports.values():
        low, high = report["interval"]["reserved_bytes"]
        for other in reports.values():
            assert low <= other["peak"]["reserved_bytes"] <= high
    assert reports["instant"]["interval"]["reserved_bytes"] == reports["late"]["interval"]["reserved_bytes"]


def test_the_clock_is_deterministic(tmp_path):
    logs = []
    for name in ("first", "second"):
        events = tmp_path / name
        assert tidemark_run(PROGRAMS / "streams.py", "random", 7, environment={"TIDEMARK_EVENTS": str(events)}).returncode == 0
        logs.append(events.read_text())
    assert logs[0] == logs[1] and logs[0].count("\n") > 50


@pytest.mark.slow("one stream has one order")
def test_one_stream_knows_no_order(tmp_path):
    """A program that uses one stream has the same report, whatever the order, and nothing about it in the report."""
    reports = []
    for order in ORDERS:
        report, _ = report_of(PROGRAMS / "small_trainings.py", "llama", folder=tmp_path, options=("--keep-going", "--event-order", order))
        del report["host"], report["script"]
        assert not any("event-order" in row["what"] for row in report["assumptions"])
        reports.append(report)
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.slow("polling ends under each order of events", keep=["clock"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_program_that_polls_ends(tmp_path, order):
    program = tmp_path / "polls.py"
    program.write_text("""
import torch
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    torch.empty(1 << 30, dtype=torch.uint8, device="cuda").fill_(1)
done = torch.cuda.Event()
done.record(side)
print("at once", done.query(), side.query())
while not done.query():
    pass
print("then", done.query(), side.query())
""")
    done = tidemark_run(program, options=("--event-order", order))
    assert done.returncode == 0, done.stderr
    at_once = "True True" if order == "instant" else "False False"
    assert done.stdout.splitlines()[:2] == [f"at once {at_once}", "then True True"]


@pytest.mark.slow("orders of events with one rank of DDP")
def test_data_parallel_training_of_one_rank(tmp_path):
    """Gradient buckets go over NCCL's own stream, and the training allocates the same in every order."""
    peaks = set()
    for order in ORDERS:
        path = tmp_path / "ddp.json"
        command = [
            TIDEMARK,
            "run",
            "--gpu",
            "a10",
            "--quiet",
            "--steps",
            "3",
            "--event-order",
            order,
            "--json",
            str(path),
            "--",
            os.path.join(os.path.dirname(PYTHON), "torchrun"),
            "--nproc-per-node",
            "1",
            str(ROOT / "examples" / "torchrun_ddp.py"),
            "--batch",
            "2",
            "--sequence",
            "128",
            "--layers",
            "2",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
        peaks.add(json.loads(path.read_text())["peak"]["allocated_bytes"])
    assert len(peaks) == 1


def test_an_unknown_order_is_refused():
    done = subprocess.run([TIDEMARK, "run", "--gpu", "a10", "--event-order", "soon", "--", sys.executable, "-c", ""], capture_output=True, text=True)
    assert done.returncode == 2
    assert '"soon" is not an order of events' in done.stderr and "instant" in done.stderr


@pytest.mark.slow("orders of events with four ranks")
def test_data_parallel_training_of_four_ranks(tmp_path):
    """DDP makes its buckets anew in the second step.  Until NCCL's watchdog has seen that the first step's reductions are over, the old
    ones live on: under `late` the second step holds both."""
    peaks = {}
    for order in ("clock", "late", "clock"):
        path = tmp_path / "ddp.json"
        command = [
            TIDEMARK,
            "run",
            "--gpu",
            "h100-80gb",
            "--gpus",
            "4",
            "--quiet",
            "--steps",
            "3",
            "--event-order",
            order,
            "--json",
            str(path),
            "--",
            os.path.join(os.path.dirname(PYTHON), "torchrun"),
            "--nproc-per-node",
            "4",
            str(PROGRAMS / "data_parallel.py"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
        steps = [row["peak_allocated_bytes"] for row in json.loads(path.read_text())["steps"]]
        assert peaks.setdefault(order, steps) == steps  # the second run by the clock is the first again
    buckets = 2 * int(done.stdout.split("parameters ")[1].split()[0])  # one full copy of the gradients
    assert peaks["late"][0] == peaks["clock"][0]
    assert peaks["late"][1] == peaks["clock"][1] + buckets
