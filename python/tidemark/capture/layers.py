"""How many layers the parts of a configuration have, and in what pattern their kinds go round."""

import re

from .keys import at, changed, is_whole, without, written

_COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth", "encoder_layers", "decoder_layers", "num_encoder_layers", "num_decoder_layers")
LONGEST_PERIOD = 8
_MOST_BEFORE = 4   # layers that are of other kinds than those that go round after them
_BY_NUMBER = re.compile(r"(^|_)(layers|layer_ids|idxs)$")


class Layers:
    """`counts`: {path of a number of layers: its period}; `cycles`: {path of a list with an entry for each layer: what it repeats}; `befores`: {path of such a list, or of a number of layers: the entries ahead of those, or how many};
    `numbers`: {path of a list of some layers' numbers: the path of how many there are}, whose cycle says of each whether it is among them; `published`: {path of a number of layers: those that models have}."""

    def __init__(self, keys, defaults, published=None):
        self.counts, self.cycles, self.befores, self.numbers, self.keys, self.published = {}, {}, {}, {}, keys, published or {}
        self._part("", defaults)

    def _part(self, prefix, defaults):
        numbers = [c for c in _COUNTS if is_whole(defaults.get(c))]
        count = defaults[numbers[0]] if numbers else None
        lists = {k: v for k, v in defaults.items() if isinstance(v, list) and len(v) == count and count > 2 and not _are_sizes(v)}
        numbered = {k: _among(v, count) for k, v in defaults.items() if isinstance(k, str) and _BY_NUMBER.search(k) and _are_numbers(v, count)}
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
        if period > LONGEST_PERIOD:   # in no order: as many layers as these, of these kinds
            for key, value in lists.items():
                del self.cycles[prefix + key]
                self.keys = changed(self.keys, {prefix + key: value})
            self.keys = changed(self.keys, {prefix + number: defaults[number] for number in numbers if is_whole(at(self.keys, prefix + number))})
            numbers = []
        for number in numbers:
            if is_whole(at(self.keys, prefix + number)):
                self.counts[prefix + number] = period   # as many rounds as it takes to see them (folding.py), and some that are left over
                self.keys = changed(self.keys, {prefix + number: max(5, at(self.keys, prefix + number)) + before if period == 1 else self._least(4 * period + before, period, count)})
                if before:
                    self.befores[prefix + number] = before
        for key, value in defaults.items():
            if isinstance(value, dict):
                self._part(f"{prefix}{key}.", value)

    def few(self):
        """{path of a number of layers: as few as show all kinds of them}"""
        return {path: self._least(period + self.befores.get(path, 0), period, at(self.keys, path)) if period > 1 else 2 + self.befores.get(path, 0) for path, period in self.counts.items()}

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
        return changed(keys, {path: self._numbers(path, count) for path, count in counts.items()}) if counts else keys

    def _numbers(self, path, count):
        before, cycle = self.befores.get(path, []), self.cycles[path]
        return [i for i in range(count) if (before[i] if i < len(before) else cycle[(i - len(before)) % len(cycle)])]

    def conditions(self):
        for path, period in self.counts.items():
            if period > 1 and path not in self.published:
                yield f"{path} % {period} == {at(self.keys, path) % period}"
        for path, cycle in self.cycles.items():
            told = written(cycle) + (f" after {written(self.befores[path])}" if path in self.befores else "")
            yield f"{path} numbers {self.numbers[path]} in {told}" if path in self.numbers else f"{path} cycles {told}"


def _are_sizes(entries):
    """Depths and widths of stages are no kinds of layers; yes and no may be."""
    return any(is_whole(entry) and entry > 1 for entry in entries)


def _are_numbers(entries, count):
    return isinstance(entries, list) and count and len(entries) > 1 and all(map(is_whole, entries)) and entries == sorted(set(entries)) and 0 <= entries[0] and entries[-1] < count


def _among(entries, count):
    return [i in entries for i in range(count)]


def rounds(entries):
    """(what is ahead, what comes round and round after it)"""
    for before in range(_MOST_BEFORE + 1):
        period = _period(entries[before:])
        if period <= LONGEST_PERIOD and len(entries) >= before + (3 if before else 2) * period:
            return entries[:before], entries[before:before + period]
    return [], entries


def _period(entries):
    for period in range(1, min(LONGEST_PERIOD, len(entries) // 2) + 1):
        if all(entry == entries[i % period] for i, entry in enumerate(entries)):
            return period
    return len(entries)
