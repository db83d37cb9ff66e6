"""What record_allocator.py records: hand-made streams, random streams, training runs, each under some settings of the allocator."""

import contextlib
import dataclasses
import random
from typing import Callable

import allocator_training

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# A card that fills up, with a context and a part that the driver keeps.
SMALL_CARD = {"total_bytes": 800 * MIB, "context_bytes": 91 * MIB, "driver_reserved_bytes": 20 * MIB}


@dataclasses.dataclass
class Case:
    run: Callable
    settings: str = ""
    card: dict = dataclasses.field(default_factory=dict)
    fraction: float = 1.0
    never_ready: bool = False
    torch: str = "2.11"


class Program:
    """Tensors of so many bytes by name, on streams by number; 0 is the default stream."""

    def __init__(self, log):
        import torch

        self.torch, self.log, self.live, self.streams = torch, log, {}, [None]

    def stream(self, number):
        while len(self.streams) <= number:
            self.streams.append(self.torch.cuda.Stream())
        return self.streams[number]

    def alloc(self, name, size, stream=0):
        on = self.torch.cuda.stream(self.stream(stream)) if stream else contextlib.nullcontext()
        try:
            with on:
                self.live[name] = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")
        except self.torch.OutOfMemoryError as error:
            self.log.message(str(error).split("\n")[0])
            return False
        return True

    def free(self, name):
        del self.live[name]

    def use(self, name, stream):
        """record_stream"""
        tensor = self.live[name]
        on = self.stream(stream) if stream else self.torch.cuda.default_stream()
        self.log.mark("r", tensor.data_ptr(), on.cuda_stream)
        tensor.record_stream(on)

    def empty_cache(self):
        self.log.mark("e")
        self.torch.cuda.empty_cache()


def hand(*steps):
    """("name", bytes) allocates, "-name" frees, "empty" empties the cache, ("name", bytes, stream), ("name", "on", stream)."""

    def run(log):
        program = Program(log)
        for step in steps:
            if step == "empty":
                program.empty_cache()
            elif isinstance(step, str):
                program.free(step.lstrip("-"))
            elif step[1] == "on":
                program.use(step[0], step[2])
            else:
                program.alloc(*step)

    return run


def some_size(rng, largest):
    kind = rng.random()
    if kind < 0.30:
        return rng.randint(1, 4 * KIB)
    if kind < 0.50:
        return rng.randint(1, MIB + 600)
    if kind < 0.70:
        return rng.randint(MIB, 10 * MIB + 600)
    if kind < 0.80:
        return rng.choice([512, 4096, MIB, 2 * MIB, 8 * MIB, 20 * MIB, 64 * MIB])   # the same again: ties
    return min(largest, int(2 ** rng.uniform(22, 28.5)))


def random_stream(seed, steps=2500, live=60, streams=1, empty=0.004, largest=400 * MIB, uses=0.0):
    """Allocations and frees in no order; the number of live blocks swells and shrinks."""

    def run(log):
        rng, program, number = random.Random(seed), Program(log), 0
        for step in range(steps):
            aim = live * (0.6 + 0.4 * ((step // 300) % 3 - 1))
            roll = rng.random()
            if roll < empty:
                program.empty_cache()
            elif roll < empty + uses and program.live and streams > 1:
                program.use(rng.choice(list(program.live)), rng.randrange(streams))
            elif program.live and rng.random() < len(program.live) / (2 * aim + 1):
                program.free(rng.choice(list(program.live)))
            else:
                number += 1
                done = program.alloc(number, some_size(rng, largest), rng.randrange(streams) if streams > 1 else 0)
                for _ in range(0 if done else 3):
                    if program.live:
                        program.free(rng.choice(list(program.live)))

    return run


GC = dict(settings="garbage_collection_threshold:0.6", card=SMALL_CARD, fraction=0.9)
EXPANDABLE = dict(settings="expandable_segments:True")
A_FEW = dict(live=30, steps=2000)

CASES = {
    "hand_size_classes": Case(hand(*[(f"b{i}", size) for i, size in enumerate(
        [1, 511, 512, 513, MIB - 1, MIB, MIB + 1, 2 * MIB, 10 * MIB - 1, 10 * MIB, 10 * MIB + 1, 20 * MIB, 31 * MIB, 100 * MIB + 5])])),
    "hand_split_and_merge": Case(hand(("a", 6 * MIB), ("b", 6 * MIB), ("c", 6 * MIB), "-b", "-a", ("d", 11 * MIB), "-c", "-d", ("e", 18 * MIB),
                                      ("f", 19 * MIB), "-e", "-f", "empty", ("g", 600), ("h", 600), "-g", "empty", "-h", "empty")),
    "hand_best_fit_ties": Case(hand(*[(f"{c}{i}", 30 * MIB) for c in "ab" for i in range(4)], "-a2", "-a0", "-b1", "-b3", ("x", 30 * MIB),
                                    ("y", 29 * MIB + 1), ("z", 12 * MIB), ("w", 30 * MIB))),
    "hand_two_streams": Case(hand(("a", 30 * MIB), ("b", 30 * MIB, 1), "-a", ("c", 30 * MIB, 1), ("d", 30 * MIB), ("b", "on", 0), "-b",
                                  ("e", 30 * MIB, 1), ("c", "on", 2), ("c", "on", 0), "-c", ("f", 30 * MIB, 1), "empty")),
    "default_1": Case(random_stream(1)),
    "default_2": Case(random_stream(2, live=200)),
    "default_3": Case(random_stream(3, live=15)),
    "descending": Case(random_stream(4), card={"addresses_descend": 1}),
    "empty_cache": Case(random_stream(5, empty=0.05)),
    "max_split_64": Case(random_stream(6), settings="max_split_size_mb:64"),
    "max_split_rounding": Case(random_stream(7), settings="max_split_size_mb:32,max_non_split_rounding_mb:48"),
    "max_split_out_of_memory": Case(random_stream(8, **A_FEW), settings="max_split_size_mb:64", card=SMALL_CARD),
    "max_split_streams": Case(random_stream(9, streams=3, uses=0.1, **A_FEW), settings="max_split_size_mb:40", card=SMALL_CARD),
    "roundup_4": Case(random_stream(10), settings="roundup_power2_divisions:4"),
    "roundup_list": Case(random_stream(11), settings="roundup_power2_divisions:[4:2,16:8,64:4,>:1]"),
    "roundup_list_gap": Case(random_stream(12), settings="roundup_power2_divisions:[16:4,512:2]"),
    "garbage_collection_1": Case(random_stream(13, **A_FEW), **GC),
    "garbage_collection_2": Case(random_stream(14, live=20, steps=2000, empty=0), **GC),
    "garbage_collection_expandable": Case(random_stream(15, **A_FEW), card=SMALL_CARD, fraction=0.8,
                                          settings="garbage_collection_threshold:0.5,expandable_segments:True"),
    "large_segment_size": Case(random_stream(16), settings="large_segment_size_mb:33"),
    "out_of_memory_1": Case(random_stream(17, **A_FEW), card=SMALL_CARD),
    "out_of_memory_2": Case(random_stream(18, live=80, steps=2000), card=SMALL_CARD),
    "memory_fraction": Case(random_stream(19, **A_FEW), card=SMALL_CARD, fraction=0.5),
    "fraction_in_settings": Case(random_stream(20, **A_FEW), card=SMALL_CARD, settings="per_process_memory_fraction:0.625"),
    "streams_1": Case(random_stream(21, streams=2, uses=0.15)),
    "streams_2": Case(random_stream(22, streams=5, uses=0.25, **A_FEW), card=SMALL_CARD),
    "streams_unfinished_1": Case(random_stream(23, streams=2, uses=0.1), never_ready=True),
    "streams_unfinished_2": Case(random_stream(24, streams=4, uses=0.2, empty=0.02, **A_FEW), card=SMALL_CARD, never_ready=True),
    "expandable_1": Case(random_stream(25), **EXPANDABLE),
    "expandable_2": Case(random_stream(26, live=150, empty=0.02), **EXPANDABLE),
    "expandable_out_of_memory": Case(random_stream(27, **A_FEW), card=SMALL_CARD, **EXPANDABLE),
    "expandable_fraction": Case(random_stream(28, **A_FEW), card=SMALL_CARD, fraction=0.7, **EXPANDABLE),
    "expandable_streams": Case(random_stream(29, streams=3, uses=0.15, empty=0.02, **A_FEW), card=SMALL_CARD, **EXPANDABLE),
    "expandable_unfinished": Case(random_stream(30, streams=3, uses=0.2, empty=0.02, **A_FEW), card=SMALL_CARD, never_ready=True, **EXPANDABLE),
    "expandable_descending": Case(random_stream(31), card={"addresses_descend": 1}, **EXPANDABLE),
    "expandable_all": Case(random_stream(32, streams=3, uses=0.1, **A_FEW), card=SMALL_CARD, fraction=0.9, settings=(
        "expandable_segments:True,max_split_size_mb:50,roundup_power2_divisions:8,garbage_collection_threshold:0.7,large_segment_size_mb:24")),
    "everything_but_expandable": Case(random_stream(33, streams=3, uses=0.1, **A_FEW), card=SMALL_CARD, fraction=0.9, settings=(
        "max_split_size_mb:50,max_non_split_rounding_mb:30,roundup_power2_divisions:8,garbage_collection_threshold:0.7")),
    "train_mlp": Case(allocator_training.mlp),
    "train_llama": Case(allocator_training.llama),
    "train_llama_expandable": Case(allocator_training.llama, **EXPANDABLE),
    "train_llama_small_card": Case(allocator_training.llama, card={"total_bytes": 470 * MIB, "context_bytes": 100 * MIB}),
    "train_gpt2_amp": Case(allocator_training.gpt2_amp),
    "torch26_default": Case(random_stream(41, steps=1500), torch="2.6"),
    "torch26_out_of_memory": Case(random_stream(42, live=30, steps=1500), card=SMALL_CARD, torch="2.6"),
    "torch26_max_split": Case(random_stream(43, streams=2, uses=0.1, live=30, steps=1500), card=SMALL_CARD, torch="2.6",
                              settings="max_split_size_mb:40,max_non_split_rounding_mb:30"),
    "torch26_roundup_list": Case(random_stream(44, steps=1500), torch="2.6", settings="roundup_power2_divisions:[4:2,16:8,64:4,>:1]"),
    "torch26_garbage_collection": Case(random_stream(45, live=30, steps=1500), torch="2.6", **GC),
    "torch26_expandable": Case(random_stream(46, streams=2, uses=0.1, live=30, steps=1500), card=SMALL_CARD, torch="2.6", **EXPANDABLE),
    "torch26_train_mlp": Case(allocator_training.mlp, torch="2.6"),
}
