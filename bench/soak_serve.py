"""`tidemark serve` under a mix of questions, as teams and schedulers ask them, for long.

    python bench/soak_serve.py [--requests 1000000] [--clients 2] [--workers 2]

Clients draw from MIX, over connections that are opened anew after some requests.  An answer must have its status and be, byte for byte, the first one of the
same question.  Said are the times of each kind, and after each tenth of the requests the memory that is each process's own and the files that the server has
open.  The exit code is 1 where a process has grown by more than 1 MiB since the second tenth, a worker was replaced, or an answer was another.
"""

import argparse
import collections
import hashlib
import http.client
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time

from bench_serve import ROOT, TIDEMARK, children, private_kib, processor_seconds

A_CONNECTION = 100  # requests, about
SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 3200}
GRANITE = {"model_type": "granite", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 49155}
LLAVA = json.loads((ROOT / "bench/llava.json").read_text())
TEXT = {"seq": 1024, "gpu": "h100-80gb"}
BATCHES = (1, 2, 4, 8, 32, 64)


def of_specs(*specs, **beside):
    return [json.dumps({"spec": spec, **beside}) for spec in specs]


def hostile():
    """The fuzzers' corpus where a configuration is expected."""
    files = sorted(path for path in (ROOT / "fuzz/corpus").rglob("*") if path.is_file())
    return [b'{"spec": {"model": ' + path.read_bytes()[:20_000] + b', "seq": 16, "gpu": "no-such-card"}}' for path in files]


# Kind, requests in a thousand, path, bodies (none: GET), status; None: whatever the first one's was.
MIX = [
    ("health", 330, "/health", [], 200),
    ("metrics", 100, "/metrics", [], 200),
    ("the document", 10, "/openapi.json", [], 200),
    ("nothing there", 40, "/v2/predict", [], 404),
    ("a wrong key", 150, "/v1/predict", of_specs({"bach": 1}, {"model": SMALL, **TEXT, "sequence": 3}), 400),
    ("no JSON", 80, "/v1/predict", ["{", "", "nonsense"], 400),
    ("no such family", 80, "/v1/predict", of_specs({"model": {"model_type": "none_such"}, **TEXT}), 422),
    ("the fuzzers' corpus", 140, "/v1/predict", hostile(), None),
    ("a small Llama", 30, "/v1/predict", of_specs(*({"model": SMALL, **TEXT, "batch": batch} for batch in BATCHES)), 200),
    ("the same, ZeRO-2", 10, "/v1/predict", of_specs(*({"model": SMALL, **TEXT, "batch": batch, "gpus": 8, "parallel": "zero2"} for batch in BATCHES)), 200),
    ("a small Granite", 5, "/v1/predict", of_specs(*({"model": GRANITE, **TEXT, "batch": batch} for batch in BATCHES)), 200),
    ("GPT-2", 4, "/v1/predict", of_specs(*({"model": {"model_type": "gpt2"}, "gpu": "l4", "seq": 1024, "batch": batch} for batch in BATCHES)), 200),
    ("LLaVA-1.5-7B", 2, "/v1/predict", of_specs(*({**LLAVA, "batch": batch} for batch in BATCHES)), 200),
    ("an explanation", 8, "/v1/explain", of_specs(*({"model": SMALL, **TEXT, "batch": batch} for batch in BATCHES), by="module", rows=3), 200),
    ("what is known", 10, "/v1/describe", ["{}"], 200),
    ("a plan", 1, "/v1/plan", of_specs({"model": {**SMALL, "num_hidden_layers": 1}, "seq": 256, "batch": 2, "gpu": "l4"}, plan={"goal": "least_memory", "answers": 1}), 200),
]


def client(port, requests, seed, found):
    drawn, first, taken = random.Random(seed), {}, collections.defaultdict(list)
    connection = None
    for kind, _, path, bodies, status in drawn.choices(MIX, weights=[one[1] for one in MIX], k=requests):
        body = drawn.choice(bodies) if bodies else None
        if connection is None or drawn.random() < 1 / A_CONNECTION:
            if connection:
                connection.close()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        start = time.perf_counter()
        connection.request("GET" if body is None else "POST", path, body)
        answer = connection.getresponse()
        text = answer.read()
        taken[kind].append(time.perf_counter() - start)
        told = (answer.status, hashlib.blake2b(text).digest() if path != "/metrics" else None)
        if told != first.setdefault((path, body), told) or status not in (None, answer.status) or answer.status >= 500:
            return found.put(f"{kind}: status {answer.status}: {body!r:.300}: {text[:300]!r}")
    found.put(dict(taken))


def load(port, requests, clients, seed):
    """Seconds of each request by kind; what went wrong as a text."""
    found = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=client, args=(port, requests // clients, f"{seed} {number}", found)) for number in range(clients)]
    for process in processes:
        process.start()
    all_taken = collections.defaultdict(list)
    for one in [found.get() for _ in processes]:
        if isinstance(one, str):
            raise SystemExit(one)
        for kind, taken in one.items():
            all_taken[kind] += taken
    for process in processes:
        process.join()
    return all_taken


def soak(given):
    server = subprocess.Popen([TIDEMARK, "serve", "--port", "0", "--workers", str(given.workers)], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().rpartition(":")[2])
        pids = [server.pid, *children(server.pid)]
        taken, memory, start = collections.defaultdict(list), [], time.time()
        for tenth in range(10):
            for kind, one in load(port, given.requests // 10, given.clients, tenth).items():
                taken[kind] += one
            memory.append([private_kib(pid) for pid in pids])
            files = len(os.listdir(f"/proc/{server.pid}/fd"))
            print(f"{(tenth + 1) * given.requests // 10:,} requests, {time.time() - start:.0f} s: {memory[-1]} KiB, {files} files open", flush=True)
        print(f"processor, ms a request: {1000 * processor_seconds(pids) / given.requests:.2f}")
        return taken, memory, children(server.pid) == pids[1:]
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    taken, memory, same_workers = soak(given)
    print("\n| | requests | median, ms | p99 |\n| --- | ---: | ---: | ---: |")
    for kind, *_ in MIX:
        if len(taken[kind]) > 1:
            print(f"| {kind} | {len(taken[kind]):,} | {1000 * statistics.median(taken[kind]):.2f} | {1000 * statistics.quantiles(taken[kind], n=100)[98]:.2f} |")
    grown = [last - second for second, last in zip(memory[1], memory[-1])]
    print(f"\ngrown since the second tenth, KiB: {grown}; the workers are {'the same' if same_workers else 'others'}")
    return 0 if max(grown) <= 1024 and same_workers else 1


if __name__ == "__main__":
    sys.exit(main())
