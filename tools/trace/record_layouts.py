#!/usr/bin/env python3
"""Records how PyTorch lays out results: tests/golden/layout/layouts.txt.gz.

    record_layouts.py OUT

One line per case, made on the CPU (strides are decided above the device).  Tensors are written sizes@strides:

    elementwise A B = R     torch.add
    like A = R              torch.empty_like
    dense A = 0|1           is_non_overlapping_and_dense
    view A SIZES = R|copy   Tensor.view, or whether reshape copies
"""

import gzip
import io
import itertools
import random
import sys

import torch

SEED, CASES = 20, 1500


def text(tensor):
    join = lambda numbers: ",".join(map(str, numbers)) or "-"
    return f"{join(tensor.shape)}@{join(tensor.stride())}"


def random_tensor(random_numbers, sizes):
    """Of these sizes: contiguous, permuted, sliced or broadcast."""
    order = list(range(len(sizes)))
    random_numbers.shuffle(order)
    if random_numbers.random() < 0.4:
        order.sort()
    padding = [random_numbers.choice((0, 0, 0, 1)) for _ in sizes]
    base = torch.empty([sizes[d] + padding[d] for d in order])
    tensor = base.permute([order.index(d) for d in range(len(sizes))])[tuple(slice(0, size) for size in sizes)]
    for d, size in enumerate(sizes):
        if random_numbers.random() < 0.1:
            tensor = tensor.narrow(d, 0, 1).expand([size if i == d else -1 for i in range(len(sizes))])
    return tensor


def factorings(random_numbers, elements):
    """Some sizes with that many elements."""
    sizes = []
    while elements > 1 and len(sizes) < 4:
        divisors = [n for n in range(1, elements + 1) if elements % n == 0]
        sizes.append(random_numbers.choice(divisors))
        elements //= sizes[-1]
    return sizes + [elements]


def lines(random_numbers):
    for _ in range(CASES):
        sizes = [random_numbers.choice((1, 2, 3, 4, 6)) for _ in range(random_numbers.randint(1, 5))]
        a, other = random_tensor(random_numbers, sizes), list(sizes)
        for d in range(len(other)):
            if random_numbers.random() < 0.2:
                other[d] = 1
        b = random_tensor(random_numbers, other[random_numbers.randint(0, len(other) - 1) :] if random_numbers.random() < 0.3 else other)
        yield f"elementwise {text(a)} {text(b)} = {text(a + b)}"
        yield f"like {text(a)} = {text(torch.empty_like(a))}"
        yield f"dense {text(a)} = {int(torch.ops.aten.is_non_overlapping_and_dense(a))}"
        wanted = factorings(random_numbers, a.numel())
        try:
            shown = text(a.view(wanted))
        except RuntimeError:
            shown = "copy"
        yield f"view {text(a)} {','.join(map(str, wanted))} = {shown}"


def main():
    unique = dict.fromkeys(itertools.chain([f"# torch {torch.__version__.split('+')[0]}"], lines(random.Random(SEED))))
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write("\n".join(unique).encode() + b"\n")
    with open(sys.argv[1], "wb") as file:
        file.write(buffer.getvalue())


if __name__ == "__main__":
    main()
