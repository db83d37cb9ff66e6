"""What is done once stands in as few blocks as can be among what is done each time."""

import random

import pytest
from tidemark.capture.blocks import blocks_between


@pytest.mark.parametrize(
    "steps, again, blocks",
    [
        ("abcd", "abcd", []),
        ("axa", "a", [(1, 3)]),  # as late as it can be
        ("ab", "b", [(0, 1)]),
        ("gfcgdgfz", "gfgfz", [(2, 5)]),  # not c, and dg
        ("gfcgdgfzgfcgdgfz", "gfgfzgfgfz", [(2, 5), (10, 13)]),
        ("ab", "c", None),
        ("a", "ab", None),
        ("ab", "ba", None),
    ],
)
def test_blocks(steps, again, blocks):
    assert blocks_between(list(steps), list(again)) == blocks


def test_without_its_blocks_a_list_is_the_other():
    draw = random.Random(7)
    for _ in range(300):
        again = [draw.choice("abc") for _ in range(draw.randrange(12))]
        steps, places = list(again), sorted(draw.sample(range(len(again) + 1), min(2, len(again) + 1)), reverse=True)
        for place in places:
            steps[place:place] = [draw.choice("abcd") for _ in range(draw.randrange(1, 4))]
        blocks = blocks_between(steps, again)
        left = set(range(len(steps))).difference(*(range(*block) for block in blocks))
        assert [steps[k] for k in sorted(left)] == again and len(blocks) <= len(places)
