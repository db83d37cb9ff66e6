"""integrations/docker/Dockerfile: what it installs serves without Python, environment or packages, and its health check sees it."""

import fnmatch
import json
import re
import signal
import socket
import subprocess
import time

import pytest
from serving import ROOT

FOLDER = ROOT / "integrations/docker"
TEXT = (FOLDER / "Dockerfile").read_text()


def words_of(instruction):
    """The JSON list of the last such instruction."""
    return json.loads(re.findall(rf"^{instruction}(?: --\S+)* (?:CMD )?(\[.*\])$", TEXT, re.MULTILINE)[-1])


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """As the image has it in /opt/tidemark."""
    prefix = tmp_path_factory.mktemp("image")
    (line,) = re.findall(r"cmake --install build/release (.*)", TEXT)
    subprocess.run(["cmake", "--install", ROOT / "build/release", *line.replace("/opt/tidemark", str(prefix)).split()], check=True, stdout=subprocess.DEVNULL)
    return prefix


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def is_healthy(port):
    return subprocess.run([word.replace("8080", port) for word in words_of("HEALTHCHECK")], stderr=subprocess.DEVNULL).returncode == 0


def test_what_the_image_starts_answers_and_is_healthy(installed, port):
    words = [word.replace("/opt/tidemark", str(installed)).replace("8080", port).replace("0.0.0.0", "127.0.0.1") for word in words_of("ENTRYPOINT") + words_of("CMD")]
    assert not is_healthy(port)
    server = subprocess.Popen(words, env={}, cwd="/", stdout=subprocess.PIPE, text=True)
    try:
        assert port in server.stdout.readline()
        assert is_healthy(port)
    finally:
        server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 0
    time.sleep(0.1)
    assert not is_healthy(port)


def test_the_image_needs_no_shared_library(installed):
    done = subprocess.run(["ldd", installed / "bin/tidemark"], capture_output=True, text=True)
    assert "not a dynamic executable" in done.stderr or "statically linked" in done.stdout


def test_what_the_build_reads_is_in_its_context():
    left_out = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    for name in ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "apps", "bindings", "virtual_gpu", "include", "python", "data", "validation", "tools"):
        assert (ROOT / name).exists() and not any(fnmatch.fnmatch(name, pattern) for pattern in left_out), name
