"""How a server ends and is reported, with a stand-in for vLLM (standin/vllm); test_vllm.py has the real one."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STANDIN = Path(__file__).resolve().parent / "standin"
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build" / "release" / "apps" / "cli" / "tidemark"))
PYTHON = os.environ.get("TIDEMARK_PYTHON", sys.executable)
MIB = 1 << 20

pytestmark = pytest.mark.oracle


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run(folder, *words, options=()):
    """(finished process, report) of a program of the stand-in."""
    path = folder / "report.json"
    command = [TIDEMARK, "run", "--gpu", "a100-80gb", "--json", str(path), *options, "--", PYTHON, *words]
    environment = {**os.environ, "PYTHONPATH": str(STANDIN), "TMPDIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return done, json.loads(path.read_text()) if path.exists() else None


def serve(folder, length, *words, options=()):
    """(finished process, report, port) of the stand-in server."""
    port = free_port()
    return *run(folder, str(STANDIN / "server.py"), str(length), str(port), *words, options=options), port


def nothing_is_left(folder, port):
    with socket.socket() as one:
        one.bind(("0.0.0.0", port))
    here = subprocess.run(["pgrep", "-f", f"server.py .* {port}"], capture_output=True, text=True).stdout
    return not here and not list(folder.glob("tidemark-run-*"))


def test_server_ends_when_it_is_ready(tmp_path):
    done, report, port = serve(tmp_path, 4096)
    assert done.returncode == 0, done.stdout + done.stderr
    serving = report["serving"]
    sequences = report["serving"]["kv_cache"]["tokens"] // 4096
    assert 0 < sequences < 256
    assert report["verdict"].startswith(f"fits: starts and serves {sequences} sequences of 4,096 tokens, peak "), report["verdict"]
    assert (serving["engine"], serving["version"]) == ("vLLM", "0.33.0")
    terms = {row["name"]: row["bytes"] for row in serving["terms"]}
    assert terms["requested"] == report["card"]["total_bytes"] // 2
    assert terms["requested"] - terms["weights"] - terms["non-torch and fragments"] - terms["peak activation"] - terms["CUDA graphs, estimated"] == terms["left for the KV cache"]
    assert (terms["peak activation"], terms["CUDA graphs"]) == (5 * MIB, 3 * MIB)
    cache = serving["kv_cache"]
    assert cache["bytes"] == terms["KV cache"] == cache["blocks"] * 2 * MIB
    assert cache["tokens"] == 16 * cache["blocks"]
    by_category = {row["name"]: row["bytes"] for row in report["at_peak"]["by_category"]}
    assert 0 <= by_category["kv_cache"] - cache["bytes"] < 2 * 2 * MIB  # two tensors, in blocks of the allocator
    assert "requests" not in serving
    assert f"KV cache: {cache['tokens']:,} tokens in {cache['blocks']:,} blocks of 16" in done.stdout
    assert nothing_is_left(tmp_path, port)


def test_requests_are_sent_before_the_end(tmp_path):
    done, report, _ = serve(tmp_path, 100, options=("--requests", "3"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("request made 50 16") == 3
    assert report["serving"]["requests"] == {"sent": 3, "answered": 3}
    assert "requests: 3 sent, 3 answered" in done.stdout


def test_failed_requests_are_reported(tmp_path):
    done, report, _ = serve(tmp_path, 100, "broken", options=("--requests", "2"))
    assert report["serving"]["requests"] == {"sent": 2, "answered": 0, "failure": "HTTP 500: no tokens today"}
    assert "2 sent, 0 answered; HTTP 500: no tokens today" in done.stdout


def test_refusal_is_the_verdict(tmp_path):
    done, report, port = serve(tmp_path, 10**9)
    assert done.returncode == 1
    assert report["verdict"] == "does not start: vLLM refuses: To serve at least one request of 1000000000 tokens, more KV cache memory is needed"
    assert report["fits"] is False
    assert report["serving"]["refusal"]["for_memory"] is True
    assert nothing_is_left(tmp_path, port)


def test_engine_of_a_script_reports_before_it_is_killed(tmp_path):
    done, report = run(tmp_path, str(STANDIN / "script.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the script goes on" in done.stdout
    assert report["serving"]["kv_cache"]["length"] == 4096


def test_requests_without_a_server_are_an_error(tmp_path):
    done, report = run(tmp_path, "-c", "import torch; torch.zeros(8, device='cuda')", options=("--requests", "2"))
    assert done.returncode == 2
    assert "--requests: the program started no server, so no request was sent" in done.stderr
    assert report["peak"]["allocated_bytes"] == 512
