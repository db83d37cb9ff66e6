"""Ends a server once it is ready, or once it has answered its requests (`--requests N`)."""

import concurrent.futures
import functools
import http.client
import json
import os
import socket
import ssl
import threading
import time

from .. import relied_on
from . import notes

_PROMPT_TOKENS, _NEW_TOKENS = 1024, 16  # of a request, where the engine's length allows it
_AT_A_TIME = 64
_FIRST_TOKEN, _TOKENS = 10, 500  # of prompts: ordinary tokens of any vocabulary


def uvicorn_was_imported():
    if not os.environ.get("TIDEMARK_KEEP_SERVING"):
        relied_on.enable("server_ready", _watch_startup)


def _watch_startup():
    from uvicorn.server import Server

    real = Server.startup

    @functools.wraps(real)
    async def startup(self, sockets=None):
        await real(self, sockets=sockets)
        if self.started and _serves_an_engine(self.config):
            address = _Address(self.config, sockets)
            threading.Thread(target=_end_when_asked, args=(os.environ["TIDEMARK_RUN_DIR"], address), name="tidemark-server", daemon=True).start()

    Server.startup = startup


def _serves_an_engine(config):
    """vLLM's application has the client of its engine as its state (vllm: entrypoints/launchers/launcher.py, serve_http, 0.33.0)."""
    return getattr(getattr(config.app, "state", None), "engine_client", None) is not None


class _Address:
    """Where the server listens, as this machine reaches it: a host of "" or 0.0.0.0 is the loopback interface."""

    def __init__(self, config, sockets):
        name = sockets[0].getsockname() if sockets else (config.host, config.port)
        self.path = name if isinstance(name, str) else None
        self.host, self.port = ("", 0) if self.path else name[:2]
        self.secure = bool(config.is_ssl)

    def ask(self, method, path, body=None):
        """(status, value) of an answer; OSError where there is none."""
        connection = self._connection()
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('VLLM_API_KEY', '')}"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            return answer.status, json.loads(text) if text.startswith(("{", "[")) else text
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def _connection(self):
        if self.path:
            return _OverUnixSocket(self.path)
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host or "", self.host)
        if self.secure:
            return http.client.HTTPSConnection(host, self.port, context=ssl._create_unverified_context())
        return http.client.HTTPConnection(host, self.port)


class _OverUnixSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def _end_when_asked(run_dir, address):
    while not _is_ready(address):
        time.sleep(notes.LOOK_AGAIN_S)
    if wanted := int(os.environ.get("TIDEMARK_REQUESTS", "0")):
        notes.write(run_dir, notes.REQUESTS, _ask_all(address, wanted))
    notes.write(run_dir, notes.ASKED, {})
    notes.wait_for_reports(run_dir)
    notes.write(run_dir, notes.SERVED, {})


def _is_ready(address):
    try:
        return address.ask("GET", "/health")[0] == http.HTTPStatus.OK
    except OSError:
        return False


def _ask_all(address, wanted):
    """The value `requests` of a report."""
    _, models = address.ask("GET", "/v1/models")
    model, length = models["data"][0]["id"], models["data"][0].get("max_model_len") or _PROMPT_TOKENS
    prompt_tokens = max(1, min(_PROMPT_TOKENS, length // 2))
    new_tokens = max(1, min(_NEW_TOKENS, length - prompt_tokens))

    def ask(number):
        prompt = [_FIRST_TOKEN + (number * 7 + place) % _TOKENS for place in range(prompt_tokens)]
        body = {"model": model, "prompt": prompt, "max_tokens": new_tokens, "ignore_eos": True, "temperature": 0}
        try:
            status, answer = address.ask("POST", "/v1/completions", body)
        except OSError as error:
            return str(error)
        return "" if status == http.HTTPStatus.OK else f"HTTP {status}: {_message(answer)}"

    with concurrent.futures.ThreadPoolExecutor(min(wanted, _AT_A_TIME)) as pool:
        failures = [failure for failure in pool.map(ask, range(wanted)) if failure]
    return {"sent": wanted, "answered": wanted - len(failures), **({"failure": failures[0]} if failures else {})}


def _message(answer):
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    return str(error.get("message", error) if isinstance(error, dict) else error)[:500]
