"""Runs in the rivals' environment: questions in, one answer a line out, among whatever else the libraries print.

tidemark run … -- .venv-rivals/bin/python ask.py QUESTIONS     (a file of JSON lines: [estimator, training])
"""

import json
import sys
import time

import rivals
import training

MARK = "answer: "


def answer(name, one):
    """seconds: of this process's CPU time, without what importing took."""
    rival = rivals.RIVALS[name]
    start = time.process_time()
    try:
        found, refused = rival.estimate(one), None
    except training.Refused as reason:
        found, refused = None, str(reason)
    return {"id": one.id, "estimator": name, "bytes": found, "refused": refused, "version": rival.version(), "seconds": round(time.process_time() - start, 3)}


def main():
    import torch

    torch.empty(1, device="cuda")  # `tidemark run` takes a program that never uses CUDA for a mistake
    with open(sys.argv[1]) as questions:
        for line in questions:
            name, one = json.loads(line)
            print(MARK + json.dumps(answer(name, training.Training(**one))), flush=True)


if __name__ == "__main__":
    main()
