"""`--data all`: steps that were not trained, made of those that were: what they ask for, and in which order."""

import random

import pytest
from tidemark.inside.epoch import presence
from tidemark.inside.epoch.made import Made, Trained
from tidemark.inside.epoch.stretches import NotKnown, read
from tidemark.inside.events import ALLOC, FREE_COMPLETED, FREE_REQUESTED

random.seed(3)
LENGTHS = random.sample(range(50, 1000), 60)
POINTS = [(number, {"length": length, "rows": 4}) for number, length in enumerate(LENGTHS, 3)]
KINDS = {
    "above a size": lambda number, length: length > 512,
    "between two": lambda number, length: 300 < length < 700,
    "padded": lambda number, length: length % 8 != 0,
    "every tenth": lambda number, length: number % 10 == 0,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_presence_that_follows_is_found(kind):
    is_present = KINDS[kind]
    found = presence.rule(POINTS, [is_present(number, sizes["length"]) for number, sizes in POINTS])
    answers = [(found(number, {"length": length, "rows": 4}), is_present(number, length)) for number in range(100, 200) for length in range(60, 990, 7)]
    assert all(answer in (None, right) for answer, right in answers)
    assert sum(answer is None for answer, _ in answers) < 0.1 * len(answers)


def test_a_presence_that_does_not_follow_is_not_known():
    random.seed(4)
    found = presence.rule(POINTS, [random.random() < 0.5 for _ in POINTS])
    assert found(200, {"length": 500, "rows": 4}) is None


def test_few_steps_do_not_make_a_rule():
    found = presence.rule(POINTS[:6], [sizes["length"] > 500 for _, sizes in POINTS[:6]])
    assert found(200, {"length": 990, "rows": 4}) is None


def step_of(length, optional, moved=False):
    """Rows of events: a block of the length, perhaps a scratch block, which may end before or after the next."""
    asked = [("a", 8 * length), *([("scratch", 1000 + length)] if optional else []), ("b", 4 * length)]
    rows, address = [], {name: i + 1 for i, (name, _) in enumerate(asked)}
    event = lambda name, size, action: (address[name], size, 0, 0, 1, 1, ord(name[0]) + 1000 * (action != ALLOC), action, 0, 0, 0)
    for name, size in asked:
        rows.append(event(name, size, ALLOC))
        if name == "scratch" and not moved or name == "b" and optional and moved:
            rows += [event("scratch", 0, FREE_REQUESTED), event("scratch", 0, FREE_COMPLETED)]
    for name in ("b", "a"):
        rows += [event(name, 0, FREE_REQUESTED), event(name, 0, FREE_COMPLETED)]
    return rows


def made_of(steps):
    """`Made` of [(sizes, rows)], one stretch each."""
    return Made([Trained(number, 0, sizes, sizes, read(rows, [len(rows)])[0]) for number, (sizes, rows) in enumerate(steps, 3)])


def asked_of(stretch):
    return list(stretch.sizes), [action for action, *_ in stretch.pattern]


def test_an_optional_request_follows_its_size():
    made = made_of([({"length": length}, step_of(length, length > 512)) for length in LENGTHS])
    for length in (101, 999):
        wanted = read(step_of(length, length > 512), [len(step_of(length, length > 512))])[0]
        for found in made.of(200, 0, {"length": length}, {"length": length}):
            assert (found.pattern, found.sizes, found.about) == (wanted.pattern, wanted.sizes, wanted.about)


def test_an_optional_request_that_does_not_follow_is_asked_for_on_one_side():
    random.seed(5)
    made = made_of([({"length": length}, step_of(length, random.random() < 0.5, random.random() < 0.5)) for length in LENGTHS])
    smaller, larger = made.of(200, 0, {"length": 777}, {"length": 777})
    assert asked_of(smaller) == ([8 * 777, 4 * 777], [ALLOC, ALLOC, *[FREE_REQUESTED, FREE_COMPLETED] * 2])
    assert asked_of(larger) == ([8 * 777, 1777, 4 * 777], [ALLOC] * 3 + [FREE_REQUESTED, FREE_COMPLETED] * 3)  # until its last end


def test_a_block_that_stays_in_some_steps_only_is_refused():
    random.seed(6)
    steps = [({"length": length}, step_of(length, True)) for length in LENGTHS]
    steps = [(sizes, [row for row in rows if random.random() < 0.5 or row[0] != 2 or row[7] == ALLOC]) for sizes, rows in steps]
    with pytest.raises(NotKnown):
        made_of(steps).of(200, 0, {"length": 777}, {"length": 777})
