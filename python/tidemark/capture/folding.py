"""Repeated layers once: runs of statements that are alike but for a place in a module list and for the value that goes from one to the next.

%1 = call layers.0: Layer#1(0=%0)          repeat i in 0..2:
%2 = call layers.1: Layer#1(0=%1)            %1 = call layers.{i}: Layer#1(0=%0)
del %1                               …       del %0
%3 = call layers.2: Layer#1(0=%2)            next %0=%1
"""

import re

from .floats import any_float
from .statements import Statement, replace_terms
from .terms import Number, Ref, Typed, walk_terms

_PLACE = re.compile(r"(?<=\.)\d+(?=\.|$)")
_LONGEST_BLOCK = 60


def _shape(statement):
    """What must be equal in two rounds; values, floats and places in paths left out."""

    def plain(x):
        return tuple("%" if isinstance(t, Ref) else any_float(t) for t in walk_terms(x))

    name = _PLACE.sub("#", statement.name) if statement.kind == "call" else statement.name
    return (statement.kind, name, tuple((type(r), plain(r), getattr(r, "flags", ())) for r in statement.results), tuple((k, type(t), plain(t)) for k, t in statement.args), statement.mark, id(statement.body))


def _values(statement):
    """(value, whether it is made here) in order."""
    for result in statement.results:
        for term in walk_terms(result):
            if isinstance(term, Ref):
                yield term, isinstance(result, Typed)
    for _, argument in statement.args:
        for term in walk_terms(argument):
            if isinstance(term, Ref):
                yield term, False


def _places(block):
    return [int(n) for s in block if s.kind == "call" for n in _PLACE.findall(s.name)]


def fold(statements):
    """The statements with runs of three rounds and more as one `repeat`."""
    if not _places(statements):
        return statements
    numbers = {}
    shapes, out, at = [numbers.setdefault(_shape(s), len(numbers)) for s in statements], [], 0
    while at < len(statements):
        period, rounds = _best_run(statements, shapes, at)
        if rounds < 3 or _begins_later(statements, shapes, at, period, rounds):
            out.append(statements[at])
            at += 1
            continue
        blocks = [statements[at + k * period : at + (k + 1) * period] for k in range(rounds)]
        repeat, renamed = _repeat(blocks)
        at += rounds * period
        out.append(repeat)
        statements = statements[:at] + [_renamed(s, renamed) for s in statements[at:]]
    return out


def runs_of(shapes, at, longest=_LONGEST_BLOCK):
    """(statements of a round, rounds) of what begins here and comes again, the shortest first."""
    for period in range(1, min(longest, (len(shapes) - at) // 3) + 1):
        if shapes[at] != shapes[at + period]:
            continue
        rounds = 1
        while shapes[at + rounds * period : at + (rounds + 1) * period] == shapes[at : at + period]:
            rounds += 1
        yield period, rounds


def _best_run(statements, shapes, at):
    for period, rounds in runs_of(shapes, at):
        if not _places(statements[at : at + period]):
            continue
        while rounds >= 3 and not _goes_on(statements, at, period, rounds):
            rounds -= 1
        if rounds >= 3:
            return period, rounds
    return 0, 0


def _begins_later(statements, shapes, at, period, rounds):
    """Whether a shorter block goes round from within the first: else an even number of layers were two by two, and an odd one not."""
    for later in range(at + 1, at + period):
        shorter, count = _best_run(statements, shapes, later)
        if count >= 3 and shorter < period and shorter * count > period * (rounds - 1):
            return True
    return False


def _goes_on(statements, at, period, rounds):
    """Whether the rounds can be told as one: places go up by one step, values are outer, of this round, or of the round before; only those that go on outlive the run."""
    blocks = [statements[at + k * period : at + (k + 1) * period] for k in range(rounds)]
    places = [_places(b) for b in blocks]
    if not places[0]:
        return False
    steps = [b - a for a, b in zip(places[0], places[1])]
    if any([b - a for a, b in zip(p, q)] != steps for p, q in zip(places, places[1:])) or not any(steps):
        return False
    carried = _carried(blocks)
    if carried is None:
        return False
    made = {v for b in blocks for s in b for v, new in _values(s) if new}
    last = {dict(_roles(blocks[-1]))[role] for role in carried.values()}
    died = {v for b in blocks for s in b if s.kind == "del" for v, _ in _values(s)}
    later = {v for s in statements[at + rounds * period :] for v, _ in _values(s)}
    return not (made - died - last) and not ((made - last) & later)


def _roles(block):
    """(where it is made, value) of what a round makes."""
    return [((i, j), v) for i, s in enumerate(block) for j, (v, new) in enumerate(_values(s)) if new]


def _carried(blocks):
    """{value that the first round finds: where the round before makes what takes its place}, or None if the rounds do not go on evenly."""
    here = {v: role for role, v in _roles(blocks[0])}
    rules = {tuple(_rules(before, block)) for before, block in zip(blocks, blocks[1:])}
    if len(rules) != 1:
        return None
    carried = {}
    for x, (rule, what) in zip((v for s in blocks[0] for v, _ in _values(s)), rules.pop()):
        if rule == "made" and here.get(x) != what or rule == "carried" and (x in here or carried.setdefault(x, what) != what):
            return None
        if rule == "same" and (x != what or x in carried):
            return None
    return carried


def _rules(before, block):
    """Where each value of a round comes from: made in it, made in the round before, or older."""
    made_before, made = {v: r for r, v in _roles(before)}, {v: r for r, v in _roles(block)}
    for statement in block:
        for value, _ in _values(statement):
            yield ("made", made[value]) if value in made else ("carried", made_before[value]) if value in made_before else ("same", value)


def _repeat(blocks):
    """The statement, and {value of the last round: what it is called after the run}."""
    carried, made = _carried(blocks), dict(_roles(blocks[0]))
    pairs = tuple((x, made[role]) for x, role in carried.items())
    steps = [(a, b - a) for a, b in zip(_places(blocks[0]), _places(blocks[1]))]
    block, places = [], iter(steps)
    start = next((a for a, step in steps if step == 1), 0)
    for statement in blocks[0]:
        if statement.kind == "call":
            statement = statement._replace(name=_PLACE.sub(lambda _: _place(*next(places), start), statement.name))
        block.append(statement)
    last = dict(_roles(blocks[-1]))
    return (Statement("repeat", name=Number(start, False), block=tuple(block), count=Number(start + len(blocks) - 1, False), next=pairs), {last[role]: x for x, role in carried.items()})


def _place(first, step, start):
    """The place as an expression of i, which begins at `start`."""
    if step == 0:
        return str(first)
    offset = first - step * start
    text = "i" if step == 1 else f"{step}*i"
    return "{" + (text + f" + {offset}" if offset > 0 else text + f" - {-offset}" if offset < 0 else text) + "}"


def _renamed(statement, names):
    return replace_terms(statement, lambda t: names.get(t, t) if isinstance(t, Ref) else t)
