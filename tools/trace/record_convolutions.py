#!/usr/bin/env python3
"""Record the scratch memory of cuDNN's patch embeddings, for data/convolutions.

    for card in h200 h100-pcie a100-80gb …; do
      tidemark run --gpu $card --steps 1000000 -- python record_convolutions.py record OUT/$card.jsonl
    done
    python record_convolutions.py write OUT/h200.jsonl > data/convolutions/cudnn-9.26/sm_90.txt

cuDNN chooses among its kernels by rules that it does not publish, so there is no formula: for each kernel shape that the
families use, this asks the real cuDNN (on a virtual card) for every number of images and keeps the scratch bytes as
pieces that are linear in that number.  A piece is written as first:slope:constant.
"""
import json
import sys

IMAGES = 512          # of two-dimensional patches; every number up to DENSE, then bisection
PATCHES = 65536       # of Qwen2-VL's three-dimensional ones, always a multiple of four
DENSE = 128
# (patch, image side in pixels, hidden sizes); the tiny ones are those of the tests
SQUARES = [(14, 56, (128,)), (14, 224, (384, 768, 1024, 1152, 1280, 1408, 1664)), (14, 336, (768, 1024, 1152)),
           (14, 384, (1152,)), (14, 448, (1024, 1152, 1280)), (14, 518, (384, 768, 1024)),
           (16, 32, (128,)), (16, 64, (128,)), (16, 224, (192, 384, 768, 1024, 1152, 1280)),
           (16, 256, (768, 1024, 1152)), (16, 384, (768, 1024, 1152)), (16, 512, (768, 1024, 1152)),
           (32, 64, (128,)), (32, 224, (768, 1024)), (32, 384, (768, 1024))]
CUBES = [(14, (128, 1280))]


def shapes():
    for patch, side, hidden in SQUARES:
        for h in hidden:
            yield (patch, patch), (side, side), h
    for patch, hidden in CUBES:
        for h in hidden:
            yield (2, patch, patch), (2, patch, patch), h


def measure(torch, dtype, kernel, image, hidden, count):
    """Requested bytes beside the results, forward and backward of the weight."""
    stats = lambda key: torch.cuda.memory_stats()[f"requested_bytes.all.{key}"]
    def scratch(call):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = stats("current")
        result = call()
        return result, stats("peak") - before - result.numel() * result.element_size()
    n = len(kernel)
    x = torch.empty(count, 3, *image, device="cuda", dtype=dtype)
    w = torch.empty(hidden, 3, *kernel, device="cuda", dtype=dtype)
    y, forward = scratch(lambda: torch.ops.aten.convolution(x, w, None, kernel, [0] * n, [1] * n, False, [0] * n, 1))
    assert y.is_contiguous()
    g = torch.empty_like(y)
    backward = scratch(lambda: torch.ops.aten.convolution_backward(
        g, x, w, None, kernel, [0] * n, [1] * n, False, [0] * n, 1, [False, True, False])[1])[1]
    return forward, backward


def pieces(ask, points):
    """Linear pieces through ask(n); between two points that do not lie on one line it bisects."""
    known = {n: ask(n) for n in points}
    step = points[1] - points[0]
    while True:  # refine where three neighbours do not agree
        order, more = sorted(known), set()
        for a, b, c in zip(order, order[1:], order[2:]):
            if (known[b] - known[a]) * (c - b) != (known[c] - known[b]) * (b - a):
                for low, high in ((a, b), (b, c)):
                    if high - low > step:
                        more.add((low + high) // 2 // step * step)
        more -= set(known)
        if not more:
            break
        known.update({n: ask(n) for n in more})
    order, found, i = sorted(known), [], 0
    while i < len(order):
        last, slope = i, 0
        if i + 1 < len(order):
            slope, rest = divmod(known[order[i + 1]] - known[order[i]], order[i + 1] - order[i])
            while rest == 0 and last + 1 < len(order) and \
                    known[order[last + 1]] - known[order[i]] == slope * (order[last + 1] - order[i]):
                last += 1
            if last == i + 1 and last + 1 < len(order):  # two points are always on a line: not a piece of its own
                last = i
            if last == i:
                slope = 0
        found.append([order[i], slope, known[order[i]] - slope * order[i]])
        i = last + 1
    return found


def record(path):
    import torch
    with open(path, "w") as out:
        for kernel, image, hidden in shapes():
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                if len(kernel) == 3 and dtype == torch.float32:
                    continue  # depends on more than lines can tell
                memory = {}
                def ask(count, direction):
                    if count not in memory:
                        memory[count] = measure(torch, dtype, kernel, image, hidden, count)
                    return memory[count][direction]
                points = list(range(4, 2048, 4)) + list(range(2048, PATCHES + 1, 1024)) if len(kernel) == 3 else \
                    list(range(1, DENSE)) + list(range(DENSE, IMAGES + 1, 32))
                row = {"dtype": str(dtype)[6:], "kernel": kernel, "image": image, "hidden": hidden,
                       "forward": pieces(lambda n: ask(n, 0), points), "backward": pieces(lambda n: ask(n, 1), points)}
                out.write(json.dumps(row) + "\n")
                out.flush()


def text(parts):
    return " ".join(":".join(str(number) for number in part) for part in parts)


def write(path):
    """The rows as src/ops/convolution_scratch.h reads them."""
    for row in map(json.loads, open(path)):
        print(row["dtype"], "x".join(map(str, row["kernel"])), "x".join(map(str, row["image"])), row["hidden"],
              "|", text(row["forward"]), "|", text(row["backward"]))


if __name__ == "__main__":
    {"record": record, "write": write}[sys.argv[1]](sys.argv[2])
