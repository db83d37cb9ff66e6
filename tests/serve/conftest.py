"""Servers of one test, and of a file's tests."""

import pytest
from serving import Server


@pytest.fixture
def start():
    """start(*options) -> Server"""
    started = []

    def make(*options):
        started.append(Server(*options))
        return started[-1]

    yield make
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def server():
    one = Server("--body", "256KiB")
    yield one
    assert one.process.poll() is None, "it has ended by itself"
    one.process.kill()
    one.process.wait()
