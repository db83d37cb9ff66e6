"""Parts of `--data all` that need no run: which batches are kept, and sizes as expressions of the batches'."""

import random

from tidemark.inside.epoch.loaders import FIRST, MOST, MOST_BYTES, Drawn
from tidemark.inside.epoch.sizes import Solved


class Array:
    def __init__(self, *shape, nbytes=8):
        self.shape, self.nbytes = shape, nbytes


def drawn(lengths, most=None, **options):
    found = Drawn()
    found.draw(iter([{"ids": Array(2, length, **options)} for length in lengths]), most)
    return found


def test_large_batches_are_few():
    found = drawn(range(1, 101), nbytes=MOST_BYTES // 40)
    assert len(found.kept) == 40 and {*range(FIRST), 99} <= found.kept.keys()


def test_the_first_the_longest_and_the_shortest_are_kept():
    random.seed(0)
    lengths = [random.randint(50, 500) for _ in range(400)]
    lengths[300], lengths[200] = 999, 3
    found = drawn(lengths)
    assert found.ended and len(found.sizes) == 400
    assert len(found.kept) == MOST and {*range(FIRST), 200, 300} <= found.kept.keys()
    kept = sorted(lengths[position] for position in found.kept)
    assert max(b - a for a, b in zip(kept[1:-1], kept[2:-1])) <= 30  # of every size between
    assert found.largest_kept()


def test_what_is_larger_in_one_dimension_is_kept():
    found = Drawn()
    found.draw(iter([{"ids": Array(2, 100 + i % 7), "pixels": Array(1 + i % 5, 8)} for i in range(200)] + [{"ids": Array(2, 3), "pixels": Array(77, 8)}] + [{"ids": Array(2, 50), "pixels": Array(1, 8)}] * 100), None)
    assert 200 in found.kept and found.largest_kept()


def test_handed_out_over_and_over_and_never_the_programs_to_keep():
    found = drawn([3, 4, 5], most=2)
    assert not found.ended and len(found.sizes) == 2
    for batch in found.hand_out():
        batch.pop("ids")
    assert found.handed_out == [0, 1]
    assert [batch["ids"].shape[1] for batch in found.hand_out()] == [3, 4]


def test_sizes_of_a_batch():
    found = Drawn()
    found.add({"labels": Array(1, 3), "texts": ["abc", "de"], "more": (Array(2), {"deep": Array(5, 1)})})
    assert found.sizes == [{"labels axis 0 0": 1, "labels axis 1 0": 3, "texts axis 0 0": 3, "texts axis 0 1": 2, "more axis 0 0": 2, "deep axis 0 0": 5, "deep axis 1 0": 1}]


KINDS = {
    "nothing": lambda b, s, p: 512,
    "plain": lambda b, s, p: 8 * b * s,
    "square": lambda b, s, p: 4 * s * s + 100,
    "rounded": lambda b, s, p: -(-s // 32) * 32 * 16,
    "padded mask": lambda b, s, p: 2 * s * (-(-s // 8) * 8),
    "two": lambda b, s, p: 7 * s + 9 * p + 3,
    "product": lambda b, s, p: 6 * s * p,
    "convolution": lambda b, s, p: 64 * ((s - 25) // 40 + 1),
    "encoder": lambda b, s, p: 64 * ((s - 400) // 320 + 1),
    "aligned": lambda b, s, p: 12 * (2 * p + 1) * ((s - 400) // 320 + 1),
}


def test_expressions_are_found_and_right_elsewhere():
    random.seed(1)
    samples = [(4, random.randint(8000, 48000), random.randint(10, 900)) for _ in range(60)]
    named = lambda b, s, p: {"rows": b, "length": s, "mask": s, "patches": p}
    solved = Solved([(named(*sample), {kind: size(*sample) for kind, size in KINDS.items()}) for sample in samples])
    asked = known = 0
    for _ in range(500):
        sample = (4, random.randint(8000, 48000), random.randint(10, 900))
        for kind, found in zip(KINDS, solved.of(named(*sample), list(KINDS))):
            asked += 1
            if found is not None:
                known += 1
                assert found == KINDS[kind](*sample), kind
    assert known > 0.9 * asked  # steps leave the size at which they rise open, within what samples tell


def test_what_does_not_follow_is_not_known():
    random.seed(2)
    samples = [({"length": i}, {"scratch": random.randint(1, 10**6)}) for i in range(40)]
    assert Solved(samples).of({"length": 17}, ["scratch"]) == [None]


def test_one_sample_too_few_proves_nothing():
    samples = [({"length": i}, {"line": 3 * i}) for i in (1, 5)]
    assert Solved(samples).of({"length": 4}, ["line"]) == [None]
