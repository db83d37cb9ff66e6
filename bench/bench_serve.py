"""`tidemark serve` under load, side by side with a file that nginx serves.

    python bench/bench_serve.py [--requests 20000] [--clients 2] [--workers 2]
    python bench/bench_serve.py --requests 1000000      a soak

Clients ask for LLaVA-1.5-7B over connections that stay open, one question after another.  Said are the time from a question to the last byte of its
answer, the processor time that the server takes for one, and the memory of its processes after each tenth of the requests: a growth of
more than 1 MiB a process over the last nine tenths makes the exit code 1.  nginx, where it is installed, serves the same answer as a file to the same clients.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
QUESTION = json.dumps({"spec": json.loads((ROOT / "bench/llava.json").read_text())})


def client(port, method, path, body, requests, times):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    taken = []
    for _ in range(requests):
        start = time.perf_counter()
        connection.request(method, path, body)
        answer = connection.getresponse()
        answer.read()
        taken.append(time.perf_counter() - start)
        if answer.status != 200:
            raise SystemExit(f"{path}: status {answer.status}")
    times.put(taken)


def load(port, method, path, body, requests, clients):
    """Seconds of each request, and what has passed."""
    times = multiprocessing.Queue()
    share = [requests // clients + (number < requests % clients) for number in range(clients)]
    start = time.perf_counter()
    processes = [multiprocessing.Process(target=client, args=(port, method, path, body, one, times)) for one in share]
    for process in processes:
        process.start()
    taken = [seconds for _ in processes for seconds in times.get()]
    for process in processes:
        process.join()
    return taken, time.perf_counter() - start


def row(name, taken, passed, processor=None):
    quantiles = statistics.quantiles(taken, n=1000)
    shown = [f"{1000 * one:.2f}" for one in (statistics.median(taken), quantiles[899], quantiles[989], quantiles[998])]
    print(f"| {name} | {' | '.join(shown)} | {len(taken) / passed:,.0f} | {f'{1000 * processor / len(taken):.2f}' if processor is not None else ''} |", flush=True)


def children(pid):
    return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processor_seconds(pids):
    fields = [pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def private_kib(pid):
    return sum(int(size) for size in re.findall(r"^Private_\w+: +(\d+) kB", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE))


def of_tidemark(given):
    server = subprocess.Popen([TIDEMARK, "serve", "--port", "0", "--workers", str(given.workers)], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().rpartition(":")[2])
        load(port, "POST", "/v1/predict", QUESTION, 20 * given.clients, given.clients)
        pids = [server.pid, *children(server.pid)]
        before, taken, passed, memory = processor_seconds(pids), [], 0.0, []
        for _ in range(10):
            one, seconds = load(port, "POST", "/v1/predict", QUESTION, given.requests // 10, given.clients)
            taken, passed = taken + one, passed + seconds
            memory.append([private_kib(pid) for pid in pids])
        row("`tidemark serve`, a prediction", taken, passed, processor_seconds(pids) - before)
        answer = http.client.HTTPConnection("127.0.0.1", port)
        answer.request("POST", "/v1/predict", QUESTION)
        return answer.getresponse().read(), memory, children(server.pid) == pids[1:]
    finally:
        server.terminate()
        server.wait()


NGINX = """
daemon off; worker_processes {workers}; pid {folder}/nginx.pid; error_log stderr;
events {{}}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; root {folder}; keepalive_requests 100000000; }}
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; }}
"""


def of_nginx(given, answer):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        pathlib.Path(folder, "answer.json").write_bytes(answer)
        config = pathlib.Path(folder, "nginx.conf")
        config.write_text(NGINX.format(workers=given.workers, folder=folder, port=given.nginx_port))
        server = subprocess.Popen([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", str(config)])
        try:
            time.sleep(1)
            row("nginx, the same answer as a file", *load(given.nginx_port, "GET", "/answer.json", None, given.requests, given.clients))
        finally:
            server.terminate()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--nginx-port", type=int, default=18080)
    given = parser.parse_args()
    print("| | median, ms | p90 | p99 | p99.9 | a second | processor, ms each |\n| --- | --- | --- | --- | --- | --- | --- |")
    answer, memory, same_workers = of_tidemark(given)
    if shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"):
        of_nginx(given, answer)
    grown = [last - first for first, last in zip(memory[1], memory[-1])]
    print(f"\n{given.requests} requests of {len(answer):,} bytes each; memory of the server and its workers in KiB after each tenth: {memory}; grown since the second: {grown}; the workers are {'the same' if same_workers else 'others'}")
    return 0 if max(grown) <= 1024 and same_workers else 1


if __name__ == "__main__":
    sys.exit(main())
