"""Every endpoint, its limits, its end."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
from serving import ROOT, SMALL, TIDEMARK

TEXT = {"seq": 1024, "gpu": "h100-80gb"}
SLOW = {"spec": {"model": {**SMALL, "num_hidden_layers": 4096}, "seq": 64, "gpu": "h100-80gb", "memory": "15TiB", "steps": 1000, "grad_accumulation": 1000}}


def of_command(tmp_path, what, keys, *words):
    """What `--json` writes, of no environment in particular."""
    (tmp_path / "spec.json").write_text(json.dumps(keys))
    done = subprocess.run([TIDEMARK, what, "--spec", "spec.json", "--json", "answer.json", *words], cwd=tmp_path, env={"PATH": "/none", "HOME": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return (tmp_path / "answer.json").read_text()


@pytest.mark.parametrize("spec", [{"batch": 4}, {"batch": 64, "gpu": "l4"}, {"lora": {"r": 4}}, {"gpus": 8, "parallel": "zero2"}])
def test_predict_is_the_commands_to_the_byte(server, tmp_path, spec):
    keys = {"model": SMALL, **TEXT, **spec}
    assert server.ask("/v1/predict", {"spec": keys}) == (200, of_command(tmp_path, "predict", keys))


def test_a_captured_family(server, tmp_path):
    granite = {"model_type": "granite", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 49155}
    keys = {"model": granite, **TEXT, "transformers": "5.17.0"}
    assert server.ask("/v1/predict", {"spec": keys}) == (200, of_command(tmp_path, "predict", keys))


def test_plan_is_the_commands_to_the_byte(server, tmp_path):
    keys = {"model": SMALL, "seq": 256, "batch": 8, "gpu": "l4"}
    assert server.ask("/v1/plan", {"spec": keys, "plan": {"goal": "least_memory", "answers": 2}}) == (200, of_command(tmp_path, "plan", keys, "--goal", "least_memory", "--answers", "2"))


def test_explain_describe_health(server):
    status, text = server.ask("/v1/explain", {"spec": {"model": SMALL, **TEXT}, "by": "module", "rows": 3})
    assert status == 200 and "by module" in json.loads(text)["text"]
    status, text = server.ask("/v1/describe", {})
    assert status == 200 and "h100-80gb" in [card["key"] for card in json.loads(text)["cards"]]
    status, text = server.ask("/health")
    assert status == 200 and json.loads(text)["status"] == "ok"


WRONG = {
    "a key": ({"spec": {"bach": 1}}, 400, "unknown_name", "did you mean batch?"),
    "another key": ({"spce": {}}, 400, "unknown_name", "did you mean spec?"),
    "a path": ({"spec": {"model": "/etc/passwd", **TEXT}}, 400, "bad_value", "put the content of its config.json here"),
    "a name on the hub": ({"spec": {"model": "meta-llama/Llama-3.1-8B", **TEXT}}, 400, "bad_value", "put the content of its config.json here"),
    "a card's file": ({"spec": {"model": SMALL, "seq": 8, "gpu": "/work/card.json"}}, 400, "unknown_name", None),
    "a key of the spec": ({"batch": 8, **TEXT}, 400, "unknown_name", 'it is a key of "spec": {"spec": {"batch": …}}'),
    "no model": ({"spec": TEXT}, 400, "usage", None),
    "a family": ({"spec": {"model": {"model_type": "none_such"}, **TEXT}}, 422, "unsupported", None),
    "no JSON": ("{", 400, "bad_file", None),
    "nothing": ("", 400, "bad_file", None),
    "a list": ([], 400, "bad_value", None),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_questions(server, name):
    body, status, code, hint = WRONG[name]
    found, error = server.error("/v1/predict", body)
    assert (found, error["code"]) == (status, code), error
    assert hint is None or error["hint"] == hint


@pytest.mark.parametrize("path, method, status", [("/", "GET", 404), ("/v1/predict", "GET", 405), ("/v1/html", "POST", 404), ("/health", "POST", 405), ("/metrics", "DELETE", 501), ("/v1/../../etc/passwd", "GET", 404)])
def test_other_requests(server, path, method, status):
    assert server.ask(path, "{}" if method == "POST" else None, method)[0] == status


def test_the_document(server):
    status, text = server.ask("/openapi.json")
    document = json.loads(text)
    assert status == 200 and document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {"/v1/predict", "/v1/plan", "/v1/explain", "/v1/describe", "/health", "/metrics"}
    keys = document["paths"]["/v1/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    spec = json.loads((ROOT / "docs/reference/spec.schema.json").read_text())
    assert keys["spec"]["properties"] == spec["properties"]
    jsonschema = pytest.importorskip("jsonschema")
    for name, path in document["paths"].items():
        if "get" in path:
            assert server.ask(name)[0] == 200 and list(path["get"]["responses"])[0] == "200"
            continue
        content = path["post"]["requestBody"]["content"]["application/json"]
        jsonschema.Draft202012Validator.check_schema(content["schema"])
        jsonschema.validate({"spec": {"model": SMALL, **TEXT}} if "spec" in content["schema"]["properties"] else {}, content["schema"])
        jsonschema.validate(content["example"], content["schema"])
        assert server.ask(name, content["example"])[0] == 200


def test_metrics_count(start):
    server = start("--workers", 1)
    for body in ({"spec": {"model": SMALL, **TEXT}}, {"spec": {"model": SMALL, **TEXT}}, {}):
        server.ask("/v1/predict", body)
    assert server.metric('tidemark_requests_total{topic="predict",status="200"}') == 2
    assert server.metric('tidemark_requests_total{topic="predict",status="400"}') == 1
    assert server.metric('tidemark_request_seconds_count{topic="predict"}') == 3
    assert server.metric("tidemark_resident_bytes") > 1 << 20
    assert server.metric("tidemark_waiting") == 0


def test_too_long_a_question(server):
    assert server.ask("/v1/predict", " " * (300 << 10))[0] == 413
    assert server.ask("/health")[0] == 200


def test_too_long_an_answer(start):
    server = start("--workers", 1, "--seconds", 1)
    (before,) = server.workers()
    began = time.monotonic()
    status, error = server.error("/v1/predict", SLOW)
    assert (status, error["code"]) == (503, "too_long") and time.monotonic() - began < 20
    assert server.workers() != [before] and server.metric("tidemark_workers_restarted_total") == 1
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, **TEXT}})[0] == 200


def room_of(server):
    """Bytes of address space that a worker has before anything is asked: every program of data/ is in them."""
    (worker,) = server.workers()
    (line,) = [line for line in pathlib.Path(f"/proc/{worker}/status").read_text().splitlines() if line.startswith("VmSize:")]
    return int(line.split()[1]) << 10


def test_too_large_an_answer(start):
    server = start("--workers", 1, "--worker-memory", room_of(start("--workers", 1)) + (8 << 20))
    status, error = server.error("/v1/predict", SLOW)
    assert (status, error["code"]) == (503, "too_large"), error
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, "seq": 64, "gpu": "l4"}})[0] == 200


def test_too_much_at_once(start):
    server = start("--workers", 1, "--waiting", 1, "--seconds", 3)
    found = []
    threads = [threading.Thread(target=lambda: found.append(server.ask("/v1/predict", SLOW)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    assert server.metric("tidemark_waiting") == 1 and server.metric("tidemark_working") == 1
    assert server.ask("/health")[0] == 200  # which asks no worker
    for thread in threads:
        thread.join()
    assert found == [503] * 4


def test_a_worker_that_dies(start):
    server = start("--workers", 2)
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)
    for _ in range(4):
        assert server.ask("/v1/predict", {"spec": {"model": SMALL, **TEXT}})[0] == 200
    assert server.metric("tidemark_workers_restarted_total") == 2


def test_a_question_that_ends_two_workers_is_to_blame(start):
    server = start("--workers", 1, "--seconds", 60)
    found = []
    thread = threading.Thread(target=lambda: found.append(server.ask("/v1/predict", SLOW)[0]))
    thread.start()
    for restarted in (1, 2):
        while server.metric("tidemark_working") == 0:
            time.sleep(0.05)
        assert not found
        os.kill(server.workers()[0], signal.SIGKILL)
        while server.metric("tidemark_workers_restarted_total") < restarted:
            time.sleep(0.05)
    thread.join()
    assert found == [500]
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, **TEXT}})[0] == 200


def test_clients_that_go_away(start):
    server = start("--workers", 1, "--seconds", 2)
    body = json.dumps(SLOW).encode()
    for sent in (b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body, b"POST /v1/predict HTTP/1.1\r\nContent-Le", b"\x16\x03\x01\x00\xff" * 9, b"GET /" + b"a" * 40000):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(sent)
            time.sleep(0.1)
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, **TEXT}})[0] == 200


def test_idle_clients_are_let_go(start):
    server = start("--idle-seconds", 1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"POST /v1/predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{")
        while client.recv(4096):
            pass
    assert server.ask("/health")[0] == 200


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_graceful_end(start, how):
    server = start("--workers", 1, "--seconds", 60)
    question = {"spec": {"model": {**SMALL, "num_hidden_layers": 4096}, "seq": 64, "gpu": "h100-80gb", "memory": "15TiB"}}
    found = []
    thread = threading.Thread(target=lambda: found.append(server.ask("/v1/predict", question)))
    thread.start()
    time.sleep(0.3)
    assert server.end(how) == 0
    thread.join()
    assert found[0][0] == 200 and json.loads(found[0][1])["engine"] == "predict"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port))


def test_what_cannot_be_listened_on(start):
    server = start()
    for words, text in ((("--port", str(server.port)), "cannot listen: Address already in use"), (("--host", "localhost"), "is no address"), (("--body", "many"), "")):
        done = subprocess.run([TIDEMARK, "serve", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and text in done.stderr


def test_workers_can_open_nothing(start):
    server = start()
    server.ask("/v1/describe", {})
    time.sleep(0.5)
    for pid in server.workers():
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
        assert next(line for line in limits if line.startswith("Max open files")).split()[3:5] == ["0", "0"]
        assert sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))[:3] == [0, 1, 2] and len(os.listdir(f"/proc/{pid}/fd")) == 4


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_no_file_is_opened_for_a_question(start, tmp_path):
    server = start("--workers", 1)
    pids = [word for pid in (server.process.pid, *server.workers()) for word in ("-p", str(pid))]
    tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=open,openat,connect,execve,fork,vfork,unlink,mkdir", "-o", tmp_path / "calls", *pids])
    time.sleep(1)
    granite = {"model_type": "granite", "num_hidden_layers": 2}
    for model in (SMALL, granite, "/etc/passwd", "some/model", {"model_type": "../../etc/passwd"}):
        for path in ("/v1/predict", "/v1/plan", "/v1/explain"):
            server.ask(path, {"spec": {"model": model, "seq": 64, "gpu": "l4", "transformers": "5.17.0"}})
    tracer.terminate()
    tracer.wait()
    calls = (tmp_path / "calls").read_text().splitlines()
    # What glibc asks of the system, how many processors there are, is refused too; the server's one thread writes dates.
    opened = [line for line in calls if "EMFILE" not in line and "<unfinished" not in line and "/etc/localtime" not in line and "---" not in line]
    assert calls and opened == []
