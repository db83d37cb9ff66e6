"""`tidemark serve` as a process on a free port."""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 3200}


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([TIDEMARK, "serve", "--port", "0", *map(str, options)], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline())[1])

    def connect(self, timeout=120):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, body=None, method=None, headers={}):
        """status, text"""
        connection = self.connect()
        try:
            data = json.dumps(body) if isinstance(body, (dict, list)) else body
            connection.request(method or ("GET" if body is None else "POST"), path, data, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def error(self, path, body):
        status, text = self.ask(path, body)
        return status, json.loads(text)["error"]

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", self.ask("/metrics")[1], re.MULTILINE)[1])

    def workers(self):
        return [int(pid) for pid in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)
