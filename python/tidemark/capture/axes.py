"""Which keys of a configuration a program's numbers follow, and which it holds for one value of: found by changing them one by one."""

import itertools
import math
import random
import re

from .keys import COUNT, at, changed, is_whole, kinds_of, leaves_of, window_beside, without, written
from .orders import drawn_order

_HEADS = re.compile(r"(?<!d_)heads?$")
_KV_HEADS = re.compile(r"(key_value|kv)_heads$|num_kv|linear_num_key_heads$")
_ATTENTION_HEADS = re.compile(r"(^|\.)((\w+_)?attention_heads|num_heads|n_heads?)$")
_OF_CASES = re.compile(r"(?<!d_)heads?$|chunk_size$")  # whose relations to other sizes are cases of their own (cases.py)
_WIDTHS = re.compile(r"hidden_size|d_model|n_embd|embed_dim|^dim$|width|d_ssm$")
_HEAD_DIMS = ("head_dim", "kv_channels", "attention_head_size", "mamba_d_head", "mamba_head_dim")
_EXPANSIONS = ("expand", "mamba_expand")
_IMAGES = re.compile(r"(image|img)_size$")
_VOCABULARY = re.compile(r"vocab_size")
_LENGTHS = re.compile(r"max_position|n_positions|max_seq|n_ctx|max_source|max_target")
_CHANCES = re.compile(r"drop|_prob$")  # of what is not done at all where they are zero
_ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "mrope", "su")
_DRAWS = 8  # that are tried
_POWERS = 10  # of two, as numbers of heads
_ACTIVATIONS = ("silu", "gelu", "relu", "gelu_new", "gelu_pytorch_tanh", "tanh")


class Axes:
    """`axes`: paths whose numbers are solved, in groups of those that have to be equal; `products`: {width: (heads, the size of one or the key of that, by what the width is expanded or None)}, where it has to be that; `guards`: conditions on the others; `usual`: {path: what the model takes where it is left out, of a list or a kind of rotation}."""

    def __init__(self, base, look, runs, layers, few=None, is_read=lambda path: True, held=(), is_chosen=lambda path, kind: True, beside=(), places=None, orders=None):
        """`look(keys)` gives what a model of these keys does, or raises; `runs(keys)` tells whether it runs; `layers`: {path of a number of layers: its period};
        `few`: as many layers as are enough to look at what other keys do; `is_read(path)`: whether anything asks for a key; `held`: keys that are held for one value of, whatever others would do;
        `is_chosen(path, kind)`: whether a part would be of another kind if the configuration said so; `beside`: looks at other ways of running it;
        `places`: {path of a list of layers by number: the path of how many there are}; `orders`: {path of a list of layers' kinds in any order: (these, the path of how many layers there are, if a key says it)}."""
        self.base, self.look, self.runs, self.layers, self.few, self.held = base, look, runs, layers, few or {}, held
        self.places, self.orders = places or {}, orders or {}
        self.groups, self.products, self.guards, self.guarded, self.usual = [], {}, [], [], {}
        self._known = {}  # what was seen: a draw that goes another way asks about each of its values, which are few
        self.first = look(changed(base, self.few))
        self.whole = look(base) if self.few else self.first  # with which other numbers of layers are compared
        self.beside = [(other, other(changed(base, self.few))) for other in beside]
        self.leaves = {path: value for path, value in leaves_of(base) if is_read(path)}
        self.reals_are_values = self._told({path: value / 2 for path, value in self.leaves.items() if isinstance(value, float)}) == "same"
        for path in held:
            self._guard(path, f"{path} == {written(at(base, path))}")
        for path, value in sorted(self.leaves.items(), key=lambda leaf: not any(not is_whole(size) for _, size, _ in self._products_of(*leaf))):  # what has to be a product, before its factors
            self._place(path, value)
        for path, kind in kinds_of(base):
            if is_chosen(path, kind):
                self._guard(path, f"{path} == {written(kind)}")

    def _place(self, path, value):
        if path in self.guarded or path in self.products or any(path in group for group in self.groups) or any(path in (order, count) for order, (_, count) in self.orders.items()):
            return
        if path.endswith("tie_word_embeddings"):
            return  # the tree says both
        if is_whole(value):
            self._whole(path, value)
        elif isinstance(value, bool):
            self._flag(path, value, [not value])
        elif isinstance(value, float):
            self._real(path, value)
        elif isinstance(value, str):
            self._word(path, value)
        elif value is None:
            self._flag(path, value, [16, 24, True, 0.5])  # one of the two is not what it would be made of
        else:
            self._list(path, value)

    def _told(self, values):
        """same, numbers, other or fails: what changing these keys does."""
        counts_layers = any(path in self.layers or path in self.places or isinstance(value, list) for path, value in values.items())  # a list may name any layer
        first = self.whole if counts_layers else self.first
        return self._compared(self.look, first, values if counts_layers else {**self.few, **values})

    def _compared(self, look, first, values):
        keys = changed(self.base, values)
        asked = (id(look), id(first), repr(keys))
        if asked not in self._known:
            self._known[asked] = _compared(look, first, keys)
        return self._known[asked]

    def _told_of_any(self, values):
        """The same of a key that does something in one way of running the model alone: dropout of attention's probabilities, which only eager attention calls by itself."""
        told = [self._told(values)]
        for look, first in self.beside:
            if told == ["same"]:
                told = [self._compared(look, first, {**self.few, **values})]
        return told[0]

    def _whole(self, path, value):
        if _KV_HEADS.search(path) and self._tie(path, value):
            return  # the model has no heads of keys of its own
        if any(path in factors[:2] for factors in self.products.values()):
            self.groups.append([path])
            return
        step = self.layers.get(path)
        tries = [value + step, value + 2 * step] if step else [value * 2, value * 3] if value else [1, 2]
        if _HEADS.search(path) and value and not step:
            tries = tries[:1]  # three times as many do not divide a width, and not every class says so
        told = [self._told({path: v}) for v in tries]
        if "same" in told and set(told) <= {"same", "fails"}:
            return
        if {*told} == {"fails"} and self._is_tied_whatever_heads(path, value):
            return
        if told[0] != "numbers" or "other" in told:
            is_product = {*told} == {"fails"} and self._is_product(path, value)  # of which one more may be heads of the same size, and a rest
            told[0] = "numbers" if is_product or "other" not in told and self._told({path: value + 1}) == "numbers" else "other"
        if told[0] == "numbers" or self._is_product(path, value):
            self.groups.append([path, *(p for p, factors in self.products.items() if p != path and factors == self.products.get(path))])
            if _HEADS.search(path) and not step:
                self._powers_of_two(path, value)
        elif not self._tie(path, value):
            self._guard(path, f"{path} == {value}")

    def _powers_of_two(self, path, value):
        """Slopes of ALiBi are made in two parts where the heads are no power of two (transformers 5.23.0: modeling_bloom.py, build_alibi_tensor)."""
        above = path.rpartition(".")[0]
        widths = {p: v for p, v in self.leaves.items() if is_whole(v) and _WIDTHS.search(p) and p.rpartition(".")[0] == above}

        def told(times):
            return self._told(self._with_widths({p: v * times for p, v in {path: value, **widths}.items()}))

        if value & (value - 1) == 0 and told(3) == told(5) == "other" and told(4) == "numbers":
            self._guard(path, f"{path} in {written([1 << bits for bits in range(_POWERS)])}")

    def _is_product(self, path, value):
        """Whether a width has to be the heads times their size."""
        for heads, size, expansion in self._products_of(path, value):
            other = heads if is_whole(size) else size
            alike = [p for p, v in self.leaves.items() if v == value and is_whole(v) and p != path and _WIDTHS.search(p)] if is_whole(size) else []
            for ties in ([], *([p] for p in alike), alike):  # what has to be as wide, as the output of another part has
                if self._told({path: value * 2, other: self.leaves[other] * 2, **dict.fromkeys(ties, value * 2)}) == "numbers":
                    self.products.update(dict.fromkeys([path, *ties], (heads, size, expansion)))
                    return True
        return False

    def _products_of(self, path, value):
        """What a width may be the product of."""
        if not _WIDTHS.search(path) or not is_whole(value):
            return []
        above = path.rpartition(".")[0]
        beside = {p: v for p, v in self.leaves.items() if is_whole(v) and p.rpartition(".")[0] == above}
        sizes = [p for p in beside if p.rpartition(".")[2] in _HEAD_DIMS]
        heads = [p for p in beside if _HEADS.search(p) and not _KV_HEADS.search(p) and p not in sizes]
        expansions = [None, *(p for p in beside if p.rpartition(".")[2] in _EXPANSIONS)]
        if not sizes:  # of one size that something else says, as sections of a rotation do
            return [(head, value // beside[head], None) for head in heads if value % beside[head] == 0]
        return [factors for factors in itertools.product(heads, sizes, expansions) if _product(factors, beside) == value]

    def _tie(self, path, value):
        """Keys that have to be equal: this one and another of its value, or several others."""
        others = [p for p, v in self.leaves.items() if v == value and is_whole(v) and p != path and p not in self.held and value > 1 and _are_of_a_kind(p, path)]
        if _KV_HEADS.search(path):  # not those of another mixer
            others = [p for p in others if _ATTENTION_HEADS.search(p)]
        for other in others:
            group = next((g for g in self.groups if other in g), [other])
            if self._told(self._with_widths({p: value * 2 for p in [path, *group]})) == "numbers":
                if group in self.groups:
                    group.append(path)
                else:
                    self.groups.append([path, other])
                return True
        return len(others) > 1 and self._tie_several(path, value, others)

    def _is_tied_whatever_heads(self, path, value):
        """Whether a width has to be that of another part, and nothing else: then heads may be of any size, though together with these it grows, too (transformers/models/ovis2, hidden_size)."""
        products = self._products_of(path, value)
        return bool(products) and all(is_whole(size) for _, size, _ in products) and self._tie(path, value)

    def _with_widths(self, values):
        """With the widths that have to be heads times their size."""
        now = {**self.leaves, **values}
        return values | {width: _product(factors, now) for width, factors in self.products.items() if any(factor in values for factor in factors)}

    def _tie_several(self, path, value, others):
        """All of them, less those that need not be."""

        def goes(paths):
            return self._told({p: value * 2 for p in paths}) == "numbers"

        group = dict.fromkeys([path, *(p for other in others for p in next((g for g in self.groups if other in g), [other]))])
        if not goes(group):
            return False
        for other in others:
            whole = next((g for g in self.groups if other in g), [other])
            less = [p for p in group if p not in whole]
            if goes(less):
                group = dict.fromkeys(less)
        self.groups = [g for g in self.groups if g[0] not in group]
        self.groups.append(list(group))
        return True

    def _flag(self, path, value, tries):
        told = {self._told_of_any({path: v, **window_beside(self.base, path)}) for v in tries}  # what a class does not take is no reason where it takes another
        if told - {"same", "fails"} or told == {"fails"}:
            self._guard(path, f"{path} == {written(value)}")

    def _real(self, path, value):
        """Of most, nothing but a value follows; of some, sizes; what is done with no probability, or by no amount, is not done."""
        if value and not self.reals_are_values and self._told({path: value / 2}) != "same":
            self._guard(path, f"{path} == {written(value)}")
        elif value and _CHANCES.search(path) and self._told_of_any({path: 0.0}) != "same":
            self._guard(path, f"{path} > 0.0")
        elif value and self._told_of_any({path: None}) not in ("same", "fails"):  # a cap on logits, which there may be none of
            self._guard(path, f"{path} > 0.0")
        elif not value and self._told_of_any({path: 1.0 if "layerdrop" in path else 0.1}) != "same":  # of a few layers none might be left out
            self._guard(path, f"{path} == 0.0")

    def _word(self, path, value):
        if path.endswith("rope_type"):
            factors = {"factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
            above = path.rpartition(".")[0]
            alike = [t for t in dict.fromkeys((value, *_ROPE_TYPES)) if t == value or self._told({path: t, **{f"{above}.{k}": v for k, v in factors.items()}}) == "same"]
            self._guard(path, f"{path} in {written(alike)}")
            if self._is_usual(above):
                self.usual[path] = value
            return
        tries = [a for a in _ACTIVATIONS if a != value] if value in _ACTIVATIONS else [value + "_"]
        told = {v: self._told({path: v}) for v in tries}
        if any(t != "same" for t in told.values()):
            alike = [value, *(v for v, t in told.items() if t == "same")]
            self._guard(path, f"{path} in {written(alike)}" if len(alike) > 1 else f"{path} == {written(value)}")

    def _list(self, path, value):
        if path in self.places:
            told = {self._told({path: [entry + (k == which) for k, entry in enumerate(value)]}) for which in range(len(value))}
            if len(told) == 1 and told <= {"numbers", "same"}:  # "same": layers of a part that does not run
                self.groups += [[path]] if told == {"numbers"} else []
                self._guard(path, f"{path} rises {len(value)} below {self.places[path]}")
                return
        if self._are_factors(path, value):
            self._guard(path, f"{path}.{COUNT} == {len(value)}")
            return
        tries = [value[:-1], [*value, *value[-1:]]] if value else [[0], [1]]
        if any(self._told({path: v}) != "same" for v in tries):
            self._guard(path, f"{path} == {written(value)}")
            if self._is_usual(path):
                self.usual[path] = value

    def _are_factors(self, path, value):
        """Whether it is nothing but values, of which there have to be so many: those by which frequencies of a rotation are divided (modeling_rope_utils.py, short_factor)."""
        return bool(value) and all(isinstance(v, float) and 0 < v < math.inf for v in value) and self._told({path: [2 * v + 1 for v in value]}) == "same" and self._told({path: value[:-1]}) == "fails"

    def _is_usual(self, path):
        """Whether a model without the key does the same: what it takes then is in its code (transformers 5.23.0: modeling_qwen3_5.py, mrope_section)."""
        try:
            return self.look(without(self.base, path)).exact == self.whole.exact
        except Exception:  # whatever a model of such a configuration raises
            return False

    def _guard(self, path, text):
        self.guarded.append(path)
        self.guards.append(text)

    def names(self):
        return [*(name for path, *_ in self.groups for name in ([f"{path}.{k}" for k in range(len(at(self.base, path)))] if path in self.places else [path])), *(f"{path}.{COUNT}" for path in self.orders)]

    def equalities(self):
        divided = [f"{image} % {patch} == 0" for image, patch in _images(self.names())]
        return [*(f"{other} == {group[0]}" for group in self.groups for other in group[1:]), *(f"{width} == {heads}*{size}" + (f"//{expansion}" if expansion else "") for width, (heads, size, expansion) in self.products.items()), *divided]

    def draws(self, count, seed):
        """Configurations with other values of the axes each, and in which no two axes go together."""
        ways = [_mixer_of, *([_any_mixer_of] if len({*map(_any_mixer_of, self.names())}) > len({*map(_mixer_of, self.names())}) else [])]  # heads of all mixers grow alike, unless these are then not told apart
        for mixer_of, more in itertools.product(ways, range(_DRAWS)):
            drawn = self._drawn(count, random.Random(seed + more), mixer_of)
            if _told_apart(list(map(self._numbers, drawn))) and _told_apart(list(map(self._repeats, drawn))):
                break
        return drawn

    def _numbers(self, keys):
        """The axes, and the widths of projections to keys: heads of keys times the size of one, where both are axes."""
        names = self.names()
        sizes = [name for name in names if name.rpartition(".")[2] in _HEAD_DIMS]
        widths = [(few, size) for few in names if _KV_HEADS.search(few) for size in sizes if size.rpartition(".")[0] == few.rpartition(".")[0]]
        return [*(at(keys, name) for name in names), *(at(keys, few) * at(keys, size) for few, size in widths)]

    def _repeats(self, keys):
        """How many heads share those of keys, in each part and of each kind of attention."""
        names = self.names()
        pairs = [(many, few) for few in names if _KV_HEADS.search(few) for many in names if _HEADS.search(many) and not _KV_HEADS.search(many) and _mixer_of(many) == _mixer_of(few)]
        return [at(keys, many) // at(keys, few) for many, few in pairs]

    def _drawn(self, count, drawer, mixer_of):
        drawn = []
        for _ in range(count * 4):
            values = self._accepted(_drawn(self.groups, self.base, self.layers, self.products, drawer, self.places, mixer_of) | self._orders(drawer, len(drawn)))
            keys = changed(self.base, values)
            if values and keys not in drawn and not self._goes_another_way(values):
                drawn.append(keys)
            if len(drawn) == count:
                break
        return drawn

    def _orders(self, drawer, which):
        """Other orders of layers' kinds, and how many these are."""
        entries = {path: drawn_order(kinds, drawer, which) for path, (kinds, _) in self.orders.items()}
        return entries | {count: len(entries[path]) for path, (_, count) in self.orders.items() if count}

    def _goes_another_way(self, values):
        """Whether one of the values does by itself.  Where it happens to be that of the part beside it, as a width may, the program does not hold for it; else it is a case that others are of, too, as a chunk of the text's length is."""
        if self._told(values) != "other":
            return False
        groups = [group for group in self.groups if self._told({path: values[path] for path in group if path in values}) == "other"]
        for path, *_ in groups:
            is_as_another = not _OF_CASES.search(path) and any(values[path] in (value if isinstance(value, list) else [value]) for other, value in self.leaves.items() if other != path)
            if is_as_another and f"{path} != {values[path]}" not in self.guards:  # drawn before
                self._guard(path, f"{path} != {values[path]}")
        return bool(groups)

    def _accepted(self, values):
        """The values all together where a model of them runs; else those that can be taken one after the other."""
        if self.runs(changed(self.base, values)):
            return values
        drawn = {path for group in self.groups for path in group}
        taken = {path: value for path, value in values.items() if path not in drawn and path not in self.products} if self.orders else {}
        for group in self.groups:
            more = {**taken, **{p: values[p] for p in group}}
            if self.runs(changed(self.base, more)):
                taken = more
        return taken


def _compared(look, first, keys):
    try:
        seen = look(keys)
    except Exception:  # whatever a model of such a configuration raises
        return "fails"
    return "same" if seen.exact == first.exact else "numbers" if seen.is_alike(first) else "other"


def _are_of_a_kind(one, other):
    """Heads, of the same part; or neither of them heads."""
    heads = [bool(_HEADS.search(path)) for path in (one, other)]
    return one.rpartition(".")[0] == other.rpartition(".")[0] if all(heads) else not any(heads)


def _mixer_of(path):
    """The part that a key is of, and whether it is of its linear attention, which has heads of its own."""
    part, _, name = path.rpartition(".")
    return part, name.startswith("linear_")


def _any_mixer_of(path):
    """The same of state spaces, too."""
    part, _, name = path.rpartition(".")
    return part, next((mixer for mixer in ("linear_", "mamba_") if name.startswith(mixer)), "")


def _told_apart(rows):
    """Whether no axis is another one, times a number, all along."""
    columns = [column for column in zip(*rows) if len(set(column)) > 1]
    return all(len({a * other[0] - b * one[0] for a, b in zip(one, other)}) > 1 for one, other in itertools.combinations(columns, 2))


def _images(paths):
    """(size of images, size of patches) of the same part, where both are axes."""
    return [(image, patch) for image in paths for patch in paths if _IMAGES.search(image) and patch == image.rpartition(".")[0] + "." * ("." in image) + "patch_size"]


def _drawn(groups, base, layers, products, drawer, places, mixer_of):
    """A value for each axis; heads divide widths, those of keys divide those of queries, and patches images."""
    values, parts, shared, patched = {}, {}, set(), dict(_images([group[0] for group in groups]))
    for group in sorted(groups, key=lambda g: bool(_HEADS.search(g[0])), reverse=True):
        path = group[0]
        if path in places:
            continue
        name, mixer = path.rpartition(".")[2], mixer_of(path)
        heads = parts.setdefault(mixer, (drawer.choice((1, 2, 3)), drawer.choice((1, 2))))
        first = at(base, path)
        if path in layers:
            value = first + layers[path] * drawer.randrange(4 if layers[path] == 1 else 3 if layers[path] < 4 else 2)  # rounds of many kinds take long
        elif _KV_HEADS.search(name):  # where some layers have others, these are not those times a number
            value = first * (heads[0] if mixer not in shared else drawer.choice((1, heads[0])))
            shared.add(mixer)
        elif _HEADS.search(name):
            value = first * heads[0] * heads[1]
        elif _WIDTHS.search(name):
            value = first * heads[0] * heads[1] * drawer.choice((1, 2, 3))
        elif _VOCABULARY.search(name):
            value = first + drawer.randrange(1, 99)
        elif _LENGTHS.search(name):
            value = first + 8 * drawer.randrange(1, 50)
        else:
            value = first * drawer.choice((1, 2, 3, 4, 5) if first > 4 else (1, 2, 3))
        values.update(dict.fromkeys(group, value))
    for group in groups:
        if group[0] in patched:
            patch = patched[group[0]]
            values.update(dict.fromkeys(group, values[patch] * (at(base, group[0]) // at(base, patch)) * drawer.choice((1, 2, 3))))
        if group[0] in places:
            *numbers, count = itertools.accumulate(_unlike_the_one_before(drawer, len(at(base, group[0])) + 1))
            values.update({group[0]: numbers, places[group[0]]: count})
    values.update({width: _product(factors, {path: values.get(path, at(base, path)) for path in factors if path and not is_whole(path)}) for width, factors in products.items()})
    return values


def _unlike_the_one_before(drawer, count):
    """As many layers between those that a list has by number; as many twice would be rounds of themselves (folding.py)."""
    before = None
    for _ in range(count):
        before = drawer.choice([apart for apart in range(4, 8) if apart != before])
        yield before


def _product(factors, values):
    heads, size, expansion = factors
    return values[heads] * (size if is_whole(size) else values[size]) // (values[expansion] if expansion else 1)
