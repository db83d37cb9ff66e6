#!/usr/bin/env python3
"""Records for which products bitsandbytes has a kernel of its own: tests/golden/gemm_4bit/kernels.txt.gz.

    record_gemm_4bit.py OUT

It asks the function that decides, as the installed bitsandbytes has it (backends/cuda/ops.py), of cards that need not be there.  The first
line has the numbers of rows M that are asked for; each other one "CAPABILITY MULTIPROCESSORS DTYPE N K" and a digit for each M: 1 where it has.
"""

import ast
import functools
import gzip
import importlib.util
import pathlib
import sys
import types

CARDS = ((7, 5, 40), (7, 5, 68), (8, 0, 108), (8, 0, 56), (8, 6, 28), (8, 6, 84), (8, 7, 16), (8, 9, 58), (8, 9, 128), (9, 0, 78), (9, 0, 132), (10, 0, 148), (11, 0, 20), (12, 0, 36), (12, 0, 188), (12, 1, 48))
SIZES = (
    (64, 64),
    (128, 1024),
    (256, 4096),
    (1024, 128),
    (1024, 1024),
    (1024, 2048),
    (1024, 8192),
    (2048, 1024),
    (2048, 512),
    (2560, 10240),
    (3072, 1024),
    (3072, 3072),
    (4096, 1024),
    (4096, 1536),
    (4096, 4096),
    (4096, 12288),
    (4096, 14336),
    (5120, 5120),
    (8192, 1024),
    (8192, 8192),
    (8960, 1536),
    (10240, 5120),
    (11008, 4096),
    (14336, 4096),
    (18944, 3584),
    (28672, 8192),
)
EDGES = (4, 7, 8, 10, 12, 16, 23, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 1536)
ROWS = sorted({1, 5, 6, *EDGES, *(edge + 1 for edge in EDGES[:-1])})


def decider():
    """The function of the installed package, which is not imported: it would look for the card."""
    path = pathlib.Path(importlib.util.find_spec("bitsandbytes").origin).parent / "backends/cuda/ops.py"
    wanted = [node for node in ast.parse(path.read_text()).body if getattr(node, "name", "") == "_gemm_4bit_use_custom_cuda" or (isinstance(node, ast.Assign) and node.targets[0].id == "_GEMM_4BIT_CUSTOM_FLOOR_M")]
    torch = types.SimpleNamespace(float32="fp32", float16="fp16", bfloat16="bf16")
    scope = {"functools": functools, "torch": torch, "_gpu_dispatch_props": lambda card: (card[2], card[0], card[1])}
    exec(compile(ast.Module(wanted, []), str(path), "exec"), scope)
    return scope["_gemm_4bit_use_custom_cuda"]


def main():
    uses_own = decider()
    lines = [" ".join(map(str, ROWS))]
    for card in CARDS:
        for dtype in ("bf16", "fp16", "fp32"):
            for n, k in SIZES:
                digits = "".join(str(int(uses_own(card, dtype, m, n, k))) for m in ROWS)
                lines.append(f"{card[0] * 10 + card[1]} {card[2]} {dtype} {n} {k} {digits}")
    with open(sys.argv[1], "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed:
        packed.write(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
