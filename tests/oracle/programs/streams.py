"""Blocks of 64 MiB that a second stream uses: how much is reserved depends on when that stream's events have completed.

`streams.py two` and `streams.py own`: the figures can be worked out by hand (test_event_order.py).  `streams.py random SEED`: any mixture of blocks, streams,
events and waits, the same one for the same seed.
"""

import random
import sys

import torch

MIB = 1 << 20


def block():
    return torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")


def two():
    small = torch.zeros(1, device="cuda")
    slow = torch.empty(1024 * MIB, dtype=torch.uint8, device="cuda")
    side = torch.cuda.Stream()

    first = block()
    with torch.cuda.stream(side):
        first.fill_(1)  # 64 MiB: tens of microseconds
    first.record_stream(side)
    del first
    for _ in range(100):
        small.add_(1)  # each takes the host some microseconds: by now `first` has been filled

    second = block()
    with torch.cuda.stream(side):
        for _ in range(100):
            slow.fill_(1)  # 1 GiB each: tens of milliseconds in all
    second.record_stream(side)
    del second
    third = block()  # noqa: F841


def own():
    """An event of the program's right behind a free, which PyTorch's allocator records one behind, too."""
    side = torch.cuda.Stream()
    for _ in range(4):
        used = block()
        with torch.cuda.stream(side):
            used.fill_(1)
        used.record_stream(side)
        del used
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.current_stream().synchronize()


def mixture(seed):
    choose = random.Random(seed)
    streams = [torch.cuda.current_stream()] + [torch.cuda.Stream() for _ in range(3)]
    events, blocks = [torch.cuda.Event() for _ in range(4)], []
    for _ in range(400):
        stream = choose.choice(streams)
        action = choose.choices(["allocate", "use", "free", "record", "wait", "event", "stream", "device", "asked"], [9, 9, 9, 4, 4, 1, 1, 0.3, 2])[0]
        if action == "allocate" and len(blocks) < 12:
            with torch.cuda.stream(stream):
                blocks.append(torch.empty(choose.choice([24, 32, 64]) * MIB, device="cuda", dtype=torch.uint8))
        elif action == "use" and blocks:
            used = choose.choice(blocks)
            with torch.cuda.stream(stream):
                used.fill_(1)
            used.record_stream(stream)
        elif action == "free" and blocks:
            blocks.pop(choose.randrange(len(blocks)))
        elif action == "record":
            choose.choice(events).record(stream)
        elif action == "wait":
            stream.wait_event(choose.choice(events))
        elif action == "event":
            choose.choice(events).synchronize()
        elif action == "stream":
            stream.synchronize()
        elif action == "device":
            torch.cuda.synchronize()
        elif action == "asked":
            choose.choice(events).query()


if __name__ == "__main__":
    mixture(int(sys.argv[2])) if sys.argv[1] == "random" else {"two": two, "own": own}[sys.argv[1]]()
    print("reserved", torch.cuda.max_memory_reserved(), "allocated", torch.cuda.max_memory_allocated())
