"""The fuzzers' corpus as bodies, and as whole requests."""

import socket

import pytest
from serving import ROOT, SMALL

CORPUS = sorted(path for path in (ROOT / "fuzz/corpus").rglob("*") if path.is_file())
STATUSES = {200, 400, 404, 405, 413, 422, 501, 503}


@pytest.mark.parametrize("topic", ["predict", "plan", "explain"])
def test_bodies(start, topic):
    server = start("--seconds", 5, "--waiting", 1000)
    assert len(CORPUS) > 100
    for path in CORPUS:
        data = path.read_bytes()
        for body in (data, b'{"spec": ' + data + b"}", b'{"spec": {"model": ' + data + b', "seq": 16, "gpu": "l4"}}', b'{"report": ' + data + b"}", b'{"config": {"file": "f", "text": "' + data + b'"}}'):
            status, text = server.ask(f"/v1/{topic}", body)
            assert status in STATUSES, (path, status, text)
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, "seq": 64, "gpu": "l4"}})[0] == 200
    assert server.metric("tidemark_workers_restarted_total") == 0


def test_depth_and_size(server):
    deep = "[" * 100_000
    for body in (
        deep,
        '{"spec":' * 20_000,
        '{"spec": {"model": ' + '{"a":' * 1000 + "1" + "}" * 1002,
        '{"spec": {"batch": 1e999}}',
        '{"spec": {"batch": 99999999999999999999}}',
        "\x00" * 1000,
        '{"spec": {"spec": {}}}',
        '{"spec": {"seq": 16777216, "batch": 1048576, "gpu": "l4", "model": {"model_type": "gpt2"}}}',
    ):
        status, text = server.ask("/v1/predict", body)
        assert status in (400, 422, 200), (body[:50], status, text)
    assert server.ask("/health")[0] == 200


def test_requests(server):
    for path in CORPUS:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            try:
                client.sendall(path.read_bytes()[:200_000] + b"\r\n\r\n")
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except OSError:
                pass  # closed from the other side
    assert server.ask("/v1/predict", {"spec": {"model": SMALL, "seq": 64, "gpu": "l4"}})[0] == 200
