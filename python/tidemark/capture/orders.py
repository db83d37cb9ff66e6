"""Layers of several kinds in whatever order a list of the configuration has them: what is done for each kind is told once.

    %1: T[4] = call layers.0: Block#1(0=%0)      each i in 0..0 by layer_types:
    %2: T[4] = call layers.1: Block#2(0=%1)        of "conv":
    del %1                                           %1[i]: T[4] = call layers.{i}: Block#1(0=%0)
    %3: T[4] = call layers.2: Block#1(0=%2)        of "full_attention":
    del %2                                           %1[i]: T[4] = call layers.{i}: Block#2(0=%0)
                                                 each i in 1..layer_types.count - 1 by layer_types:
                                                   of "conv":
                                                     %1[i]: T[4] = call layers.{i}: Block#1(0=%1[i - 1])
                                                     del %1[i - 1]
                                                   …

A layer makes one value, of which the next is made.  The first is told of every kind, though but one was seen there: it is what others are, of what is there before all layers.
"""

import json
import re

from .floats import any_float
from .rows import Row
from .statements import Statement, replace_terms
from .terms import Element, Number, Ref, Typed
from .text import Printer

ANY = "any order"
_LAYER = re.compile(r"(.+\.)?(\d+)")


def base_order(kinds):
    """Each kind where it is no first layer, and none in the last place alone."""
    return [*kinds, *kinds]


def drawn_order(kinds, drawer, which):
    """Another number of layers in another order, which begins with another kind in every draw."""
    rest = [*kinds, *(drawer.choice(kinds) for _ in range(drawer.randrange(5)))]
    drawer.shuffle(rest)
    return [kinds[which % len(kinds)], *rest, rest[0]]


def by_kind(statements, orders):
    """`orders`: {path of a list of layers' kinds: (its entries, all kinds there are)}; statements of layers that a list tells of are told by kind."""
    for path, (entries, kinds) in orders.items():
        told = _told(statements, path, entries, kinds)
        if told:
            return told
    return statements


def _told(statements, path, entries, kinds):
    places = _places(statements, len(entries))
    if not places:
        return None
    results = [_result(statements[at]) for at in places]
    if None in results:
        return None
    row, last = Row(results[0]), len(entries) - 1
    blocks = {}
    for k in range(1, last):
        block = _of_round(statements[places[k] : places[k + 1]], row, results[k], results[k - 1])
        if block is None or not _alike(blocks.setdefault(entries[k], block), block):
            return None
    if set(blocks) != {*entries} or entries[last] not in blocks:
        return None
    if len(blocks) > 1 and all(_alike(block, blocks[entries[last]]) for block in blocks.values()):  # another part, that has as many layers by chance
        return None
    end = places[last] + len(blocks[entries[last]])
    if not _alike(_of_round(statements[places[last] : end], row, results[last], results[last - 1]), blocks[entries[last]]):
        return None
    firsts = _firsts(statements[places[0] : places[1]], row, results[0], blocks, entries[0])
    rest = [replace_terms(s, lambda t: Element(row, Number(last, False)) if t == results[last] else t) for s in statements[end:]]
    if firsts is None or _mention(rest, results[:last]):
        return None
    first = _each(path, 0, 0, firsts, kinds)
    return [*statements[: places[0]], first, _each(path, 1, last, blocks, kinds), *rest]


def _each(path, first, last, blocks, kinds):
    cases = tuple(Statement("of", json.dumps(kind), block=blocks[kind]) for kind in kinds if kind in blocks)
    return Statement("each", name=Number(first, False), block=cases, count=Number(last, False), mark=path)


def _places(statements, count):
    """Where the layers of a list are called, each once and in order."""
    lists = {}
    for at, statement in enumerate(statements):
        found = statement.kind == "call" and _LAYER.fullmatch(statement.name)
        if found:
            lists.setdefault(found[1], []).append((int(found[2]), at))
    return next(([at for _, at in calls] for calls in lists.values() if [number for number, _ in calls] == list(range(count))), None)


def _result(call):
    """What a layer makes; None where that is not one value."""
    return call.results[0].ref if len(call.results) == 1 and isinstance(call.results[0], Typed) else None


def _of_round(statements, row, made, before):
    """The statements of a layer as those of any round; None where they make other values."""
    call, *others = statements
    if any(isinstance(r, Typed) for s in others for r in s.results) or any(s.kind == "call" for s in others):
        return None
    told = {made: Element(row, "i"), before: Element(row, "i - 1")}
    call = call._replace(name=_LAYER.sub(lambda found: f"{found[1] or ''}{{i}}", call.name))
    return tuple(replace_terms(s, lambda t: told.get(t, t) if isinstance(t, Ref) else t) for s in (call, *others))


def _firsts(statements, row, made, blocks, kind):
    """{kind: the statements of a first layer}, of those of others: there is one value before it, which may go on."""
    seen = _of_round(statements, row, made, None)
    begins = next((b for (_, a), (_, b) in zip(blocks[kind][0].args, seen[0].args) if a == Element(row, "i - 1")), None) if seen else None
    for ends in (False, True):
        firsts = {of: tuple(_first(block, row, begins, ends)) for of, block in blocks.items()}
        if begins is not None and _alike(firsts[kind], seen):
            return firsts
    return None


def _first(block, row, begins, ends):
    before = Element(row, "i - 1")
    for statement in block:
        if statement.kind == "del" and not ends:
            statement = statement._replace(args=tuple(one for one in statement.args if one[1] != before))
            if not statement.args:
                continue
        yield replace_terms(statement, lambda t: begins if t == before else t)


def _mention(statements, values):
    found = []
    for statement in statements:
        replace_terms(statement, lambda t: found.append(t) or t)
    return not {t for t in found if isinstance(t, Ref)}.isdisjoint(values)


def _alike(block, other):
    """Whether they differ in floats at most."""
    return block is not None and [replace_terms(s, any_float) for s in block] == [replace_terms(s, any_float) for s in other]


def in_order(groups, orders):
    """(place, what is there) of modules in a list that are of as many kinds as one of the orders has; None of others.  `groups`: (first, last, what is there)s."""
    inner = [one for start, end, one in groups if start.isdigit() for _ in range(int(start), int(end) + 1)]
    for path, (entries, kinds) in orders.items():
        of = dict(zip(entries, inner))
        if len(groups) > 1 and len(inner) == len(entries) and [of[entry] for entry in entries] == inner:
            return [(f"0..{len(entries) - 1} of {path} {json.dumps(kind)}", of[kind]) for kind in kinds if kind in of]
    return None


def goes_without(kind, body, other):
    """Whether the other, of layers without this kind, does as the body does: all but what layers of the kind do."""
    return _bodies(other) <= _bodies(body, kind)


def _bodies(root, without=None):
    """The text of each body that it leads to, but for the numbers of those, and for what is done of one kind."""
    printer, bodies = Printer(), set()
    printer.name(root)
    for text in printer.out:
        lines, deeper = [], None
        for line in re.sub(r"#\d+", "#", text).splitlines():
            indent = len(line) - len(line.lstrip())
            if deeper is not None and indent > deeper:
                continue
            deeper = indent if line.strip() == f"of {json.dumps(without)}:" else None
            lines += [line] if deeper is None else []
        bodies.add("\n".join(lines))
    return bodies


def letters_of(config, words, entries, made):
    """(key, {letter: kind}) of those of older keys that say such a list as a word, which the class takes and tells again (transformers 5.23.0: configuration_nemotron_h.py, hybrid_override_pattern); `made(keys)`: the list that these make."""
    for key in dict.fromkeys(words):
        word = getattr(config, key, None)
        letters = dict(zip(word, entries)) if isinstance(word, str) and len(word) == len(entries) else {}
        if letters and [letters[c] for c in word] == entries and len({*letters.values()}) == len(letters) and made({key: word[::-1]}) == entries[::-1]:
            yield key, letters


def older_kinds(kinds, remapped, made):
    """{what a kind was called before: the kind}, of `remapped`, which transformers has for all lists of kinds (5.23.0: configuration_utils.py, remap_legacy_layer_types); `made(entries)`: the list that the class makes of these."""
    names = {old: new for old, new in remapped.items() if new in kinds}
    try:
        return names if names and made([*names, *kinds]) == [*names.values(), *kinds] else {}
    except Exception:  # whatever a configuration class thinks of: one that checks them takes none of these (transformers 5.17.0: validate_layer_type)
        return {}
