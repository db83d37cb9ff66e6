"""How many layers the parts of a configuration have, in what pattern their kinds go round, and which of them a list tells by number."""

import itertools
import re

from .keys import COUNT, at, changed, is_whole, without, written
from .orders import ANY, base_order

_COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth", "encoder_layers", "decoder_layers", "num_encoder_layers", "num_decoder_layers", "num_global_layers")
LONGEST_PERIOD = 8
FEWEST_ROUNDS = 4  # as it takes to see them: the first of them often begins otherwise, and three are told as rounds (folding.py)
_NUMBERED = re.compile(r"(index(es)?|indices|_ids|layers)$")
_APART = 5  # layers from one of those to the next, so that they are seen as rounds (folding.py); and more, so that these make no rounds themselves
_MOST_BEFORE = 4  # layers that are of other kinds than those that go round after them
_BY_NUMBER = re.compile(r"(^|_)(layers|layer_ids|idxs)$")


class Layers:
    """`counts`: {path of a number of layers: its period}; `cycles`: {path of a list with an entry for each layer: what it repeats}; `befores`: {path of such a list, or of a number of layers: the entries ahead of those, or how many};
    `spelled`: {path of a list that says kinds and how often these come: (the kinds, the path of how many layers there are)};
    `numbers`: {path of a list of some layers' numbers: the path of how many there are}, whose cycle says of each whether it is among them; `places`: {path of another list of layers by number: the path of how many layers there are}; `orders`: {path of a list of layers' kinds in any order: (these, the path of how many layers there are, if a key says it)}; `needed`: {path of one: the kinds without which more is done otherwise}; `published`: {path of a number of layers: those that models have; of a list: that its kinds may be in any order}; `held`: paths that keep their value."""

    def __init__(self, keys, defaults, published=None, held=()):
        self.counts, self.cycles, self.befores, self.numbers, self.places, self.spelled, self.orders, self.needed, self.keys, self.held = {}, {}, {}, {}, {}, {}, {}, {}, keys, held
        self.published = {path: counts for path, counts in (published or {}).items() if counts != ANY}
        self.in_any_order = {*(published or {})} - {*self.published}
        self._part("", defaults)
        self.taking = max((len(at(self.keys, path)) for path in self.places), default=0)  # the first layers of another part may take what those by number give
        self.keys = changed(self.keys, {path: at(self.keys, path) + self.taking for path, period in self.counts.items() if period == 1 and path not in self.places.values()})

    def _part(self, prefix, defaults):
        numbers = [c for c in _COUNTS if is_whole(defaults.get(c))]
        if self._in_any_order(prefix, defaults, numbers):
            numbers = []
        count = defaults[numbers[0]] if numbers else None
        spelled = {k: kinds for k, v in defaults.items() if numbers and len(kinds := spelled_out(v)) == count}
        self.spelled.update({prefix + key: (list(dict.fromkeys(kinds)), prefix + numbers[0]) for key, kinds in spelled.items()})
        for key in [k for k, v in defaults.items() if k in spelled or v in spelled.values()]:  # and what the class makes of it
            self.keys = without(self.keys, prefix + key)
        lists = {k: v for k, v in defaults.items() if isinstance(v, list) and len(v) == count and count > 2 and not _are_sizes(v) and v not in spelled.values()}
        numbered = {k: _among(v, count) for k, v in defaults.items() if isinstance(k, str) and _BY_NUMBER.search(k) and count and is_rising(v, count) and len(v) > 1}
        numbered = {k: flags for k, flags in numbered.items() if len(rounds(flags)[1]) <= LONGEST_PERIOD}
        self.numbers.update({prefix + key: prefix + numbers[0] for key in numbered})
        lists.update(numbered)
        for key, value in lists.items():
            self.keys = without(self.keys, prefix + key)
            before, self.cycles[prefix + key] = rounds(value)
            if before:
                self.befores[prefix + key] = before
        period = max((len(self.cycles[prefix + key]) for key in lists), default=1)
        before = max((len(self.befores.get(prefix + key, ())) for key in lists), default=0)
        if period > LONGEST_PERIOD:  # in no order: as many layers as these, of these kinds
            for key, value in lists.items():
                del self.cycles[prefix + key]
                self.keys = changed(self.keys, {prefix + key: value})
            self.keys = changed(self.keys, {prefix + number: defaults[number] for number in numbers if is_whole(at(self.keys, prefix + number))})
            numbers = []
        for number in numbers:
            if is_whole(at(self.keys, prefix + number)):
                self.counts[prefix + number] = period  # rounds, and some that are left over
                self.keys = changed(self.keys, {prefix + number: max(5, at(self.keys, prefix + number)) + before if period == 1 else self._least(FEWEST_ROUNDS * period + before, period, count)})
                if before:
                    self.befores[prefix + number] = before
        self._by_number(prefix, defaults, numbers, count)
        for key, value in defaults.items():
            if isinstance(value, dict):
                self._part(f"{prefix}{key}.", value)

    def _in_any_order(self, prefix, defaults, numbers):
        """Whether a list of this part has its layers' kinds in any order."""
        key = next((k for k in defaults if prefix + str(k) in self.in_any_order), None)
        if key is None:
            return False
        kinds = list(dict.fromkeys(defaults[key]))
        self.orders[prefix + key] = (kinds, prefix + numbers[0] if numbers else None)
        entries = base_order(kinds)
        self.keys = changed(self.keys, {prefix + key: entries, **{prefix + number: len(entries) for number in numbers}})
        return True

    def _by_number(self, prefix, defaults, numbers, count):
        """Layers that a list has by number (Qwen3-VL's deepstack_visual_indexes), far apart."""
        lists = [k for k, v in defaults.items() if numbers and is_rising(v, count) and len(v) < count and _NUMBERED.search(k) and prefix + k not in self.numbers]
        if len(lists) != 1 or self.counts.get(prefix + numbers[0]) != 1 or prefix + lists[0] in self.held:
            return
        places = list(itertools.accumulate([_APART - 1, *(_APART + k % 3 for k in range(len(defaults[lists[0]]) - 1))]))
        self.places[prefix + lists[0]] = prefix + numbers[0]
        self.keys = changed(self.keys, {prefix + lists[0]: places, prefix + numbers[0]: places[-1] + _APART})

    def few(self):
        """{path of a number of layers, or of a list of some by number: as few as show all kinds of them}"""
        few = {path: self._least(period + self.befores.get(path, 0), period, at(self.keys, path)) if period > 1 else 2 + self.befores.get(path, 0) + self.taking for path, period in self.counts.items()}
        for path, number in self.places.items():
            few |= {path: list(range(len(at(self.keys, path)))), number: len(at(self.keys, path)) + 2}
        return few

    def more_rounds(self, keys, are_alike):
        """(path of a number of layers, so many) where one round more is done otherwise than these, and another as that one."""
        for path, period in self.counts.items():
            now, more, most = (changed(keys, {path: at(keys, path) + rounds * period}) for rounds in range(3))
            if period > 1 and not are_alike(now, more) and are_alike(more, most):
                yield path, at(more, path)

    @staticmethod
    def _least(least, period, count):
        """The fewest from `least` on that leave as many over as `count` does."""
        return least + (count - least) % period

    def periods(self):
        return sorted({period for period in self.counts.values() if period > 1})

    def rests(self):
        """{path of a number of layers: (its period, how many are left over after whole rounds in models that are published)}"""
        return {path: (self.counts[path], sorted({count % self.counts[path] for count in counts})) for path, counts in self.published.items()}

    def with_numbers(self, keys):
        """The keys with the lists of layers' numbers, for as many as there are: some classes make those of a number, others have one list by default."""
        counts = {path: at(keys, count) for path, count in self.numbers.items() if at(keys, path) is None and is_whole(at(keys, count))}
        made = {path: self._numbers(path, count) for path, count in counts.items()}
        made |= {path: self._spelled(kinds, layers) for path, (kinds, count) in self.spelled.items() for layers in self._said(keys, count)}
        return changed(keys, made) if made else keys

    def _numbers(self, path, count):
        before, cycle = self.befores.get(path, []), self.cycles[path]
        return [i for i in range(count) if (before[i] if i < len(before) else cycle[(i - len(before)) % len(cycle)])]

    @staticmethod
    def _said(keys, path):
        """How many layers, as a configuration says it: classes take another name for it, too."""
        above = path[: path.rfind(".") + 1]
        return [count for count in (at(keys, one) for one in (path, *(above + name for name in _COUNTS))) if is_whole(count)][:1]

    @staticmethod
    def _spelled(kinds, count):
        return [[kinds, count // len(kinds)], [kinds[: count % len(kinds)], 1]]

    def orders_of(self, keys):
        """{path of a list of kinds in any order: (its entries, all kinds)}"""
        return {path: (at(keys, path), kinds) for path, (kinds, _) in self.orders.items()}

    def as_long(self, orders):
        """{path: value} of lists of kinds in any order, and of how many layers there are then."""
        return orders | {count: len(orders[path]) for path, (_, count) in self.orders.items() if path in orders and count}

    def conditions(self):
        for path, period in self.counts.items():
            if period > 1 and path not in self.published:
                yield f"{path} % {period} == {at(self.keys, path) % period}"
        for path, cycle in self.cycles.items():
            told = written(cycle) + (f" after {written(self.befores[path])}" if path in self.befores else "")
            yield f"{path} numbers {self.numbers[path]} in {told}" if path in self.numbers else f"{path} cycles {told}"
        for path, (kinds, count) in self.orders.items():
            yield f"{path} of {written(kinds)}" + (f" with {written(self.needed[path])}" if self.needed.get(path) else "")
            if count:
                yield f"{count} == {path}.{COUNT}"
        for path, (kinds, count) in self.spelled.items():
            yield f"{path} spells {count} of {written(kinds)}"


def spelled_out(entries):
    """The kinds of layers that a list says with how often they come, as GPT-Neo's [[["global", "local"], 12]] does."""
    if not isinstance(entries, list) or not all(isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], list) and is_whole(entry[1]) for entry in entries):
        return []
    return [kind for kinds, times in entries for _ in range(times) for kind in kinds]


def is_rising(entries, count):
    """Whether they are numbers of layers, of so many, in order: of some, or of all, as where each has experts (Llama 4's moe_layers)."""
    return isinstance(entries, (list, tuple)) and len(entries) > 0 and all(map(is_whole, entries)) and sorted({*entries}) == list(entries) and 0 <= entries[0] and entries[-1] < count


def _are_sizes(entries):
    """Depths and widths of stages are no kinds of layers; yes and no may be."""
    return any(is_whole(entry) and entry > 1 for entry in entries)


def _among(entries, count):
    return [i in entries for i in range(count)]


def rounds(entries):
    """(what is ahead, what comes round and round after it)"""
    for before in range(_MOST_BEFORE + 1):
        period = _period(entries[before:])
        if period <= LONGEST_PERIOD and len(entries) >= before + (3 if before else 2) * period:
            return entries[:before], entries[before : before + period]
    return [], entries


def _period(entries):
    for period in range(1, min(LONGEST_PERIOD, len(entries) // 2) + 1):
        if all(entry == entries[i % period] for i, entry in enumerate(entries)):
            return period
    return len(entries)
