"""Which keys of a configuration a program follows, and which it holds for one value of; with models that are arithmetic."""

from tidemark.capture.axes import Axes, _told_apart
from tidemark.capture.keys import Defaults, at, changed, leaves_of, without
from tidemark.capture.layers import Layers

BASE = {"hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2, "ffn": 128, "layers": 5, "act": "gelu", "bias": False, "dropout": 0.1, "eps": 1e-6, "bos_token_id": 7, "kernel": 4, "unused": 3, "part": {"out": 64}}


class Seen:
    def __init__(self, keys):
        assert keys["hidden_size"] % keys["num_attention_heads"] == 0 and keys["num_attention_heads"] % keys["num_key_value_heads"] == 0
        assert keys["part"]["out"] == keys["hidden_size"]
        numbers = [keys[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads", "ffn", "layers")]
        self.done = (keys["act"] in ("gelu", "tanh"), keys["bias"], keys["dropout"] > 0, keys["kernel"] == 4)
        self.exact = (numbers, self.done)

    def is_alike(self, other):
        return self.done == other.done


def runs(keys):
    try:
        Seen(keys)
    except AssertionError:
        return False
    return True


def axes():
    return Axes(BASE, Seen, runs, {"layers": 1})


def test_keys_that_numbers_follow_are_axes_and_those_that_have_to_be_equal_one():
    found = axes()
    assert found.groups == [["hidden_size", "part.out"], ["num_attention_heads"], ["num_key_value_heads"], ["ffn"], ["layers"]]
    assert found.equalities() == ["part.out == hidden_size"]


def test_other_keys_hold_for_what_they_were_where_they_matter():
    assert axes().guards == ['act in ["gelu", "tanh"]', "bias == false", "dropout > 0.0", "kernel == 4"]


class Eager(Seen):
    """Drops out by itself."""

    def __init__(self, keys):
        super().__init__(keys)
        self.done += (keys["attention_dropout"] > 0, keys["scaled"])
        self.exact = (self.exact, self.done)


def test_a_key_that_does_something_in_one_way_of_running_alone_is_held_to():
    keys = {**BASE, "attention_dropout": 0.0, "scaled": True}
    guards = Axes(keys, Seen, runs, {"layers": 1}, beside=[Eager]).guards
    assert guards == [*axes().guards, "attention_dropout == 0.0", "scaled == true"]
    assert Axes(keys, Seen, runs, {"layers": 1}).guards == axes().guards


def test_what_a_value_does_is_looked_at_once_however_often_it_is_drawn():
    looked = []

    class Wide(Seen):
        """Does something else where it is wide, so that some draws are not taken."""

        def __init__(self, keys):
            super().__init__(keys)
            self.done += (keys["ffn"] > 400,)
            self.exact = (self.exact, self.done)
            looked.append(repr(keys))

    found = Axes(BASE, Wide, runs, {"layers": 1})
    assert all(keys["ffn"] <= 400 for keys in found.draws(5, seed=1))
    del looked[0]  # of the base itself
    assert len(looked) == len(set(looked)) > 20


def test_all_axes_differ_between_draws_that_run():
    draws = axes().draws(6, seed=1)
    assert len(draws) == 6 and all(map(runs, draws))
    for path in ("hidden_size", "ffn", "layers", "num_attention_heads"):
        assert len({at(keys, path) for keys in draws}) > 2, path
    assert all(keys["unused"] == 3 and keys["kernel"] == 4 for keys in draws)


class Linear(Seen):
    """Its linear attention has heads of its own, of which those of keys have to be fewer too."""

    def __init__(self, keys):
        super().__init__(keys)
        many, few = keys["linear_num_value_heads"], keys["linear_num_key_heads"]
        assert many % few == 0
        self.done += (many == few,)
        self.exact = (self.exact, many, few)


def test_heads_of_linear_attention_are_not_those_of_attention_and_are_shared_by_others():
    keys = {**BASE, "linear_num_value_heads": 8, "linear_num_key_heads": 2}
    found = Axes(keys, Linear, lambda keys: True, {"layers": 1})
    assert [group for group in found.groups if "heads" in group[0]] == [["num_attention_heads"], ["num_key_value_heads"], ["linear_num_value_heads"], ["linear_num_key_heads"]]
    draws = found.draws(6, seed=3)
    repeats = [(keys["num_attention_heads"] // keys["num_key_value_heads"], keys["linear_num_value_heads"] // keys["linear_num_key_heads"]) for keys in draws]
    assert len({a / b for a, b in repeats}) > 1


class Rotates(Seen):
    """Its sections are in its code, where the configuration has none."""

    def __init__(self, keys):
        super().__init__(keys)
        self.done += (tuple(keys.get("rope_parameters", {}).get("sections", [2, 1])),)
        self.exact = (self.exact, self.done)


def test_a_list_that_is_in_the_models_code_is_the_default():
    found = Axes({**BASE, "rope_parameters": {"sections": [2, 1]}}, Rotates, runs, {"layers": 1})
    assert found.guards[-1] == "rope_parameters.sections == [2, 1]" and found.usual == {"rope_parameters.sections": [2, 1]}
    assert Defaults(dict, [found.base], {}, usual=found.usual).line("rope_parameters.sections", []) == "rope_parameters.sections = [2, 1]; also rope_scaling.sections"
    other = Axes({**BASE, "rope_parameters": {"sections": [3]}}, Rotates, runs, {"layers": 1})
    assert other.guards[-1] == "rope_parameters.sections == [3]" and other.usual == {}


def test_paths():
    assert dict(leaves_of({"a": {"b": 1, "pad_token_id": 5}, "id2label": {"0": "x"}})) == {"a.b": 1}
    assert changed(BASE, {"part.out": 1, "new.er": 2})["new"] == {"er": 2} and BASE["part"]["out"] == 64
    assert without(BASE, "part.out")["part"] == {} and at(BASE, "part.nothing.more") is None


def test_layers_go_round_by_the_lists_of_a_configuration():
    defaults = {"num_hidden_layers": 26, "kinds": ["a", "b"] * 13, "vision": {"depth": 12}, "sizes": [1, 2]}
    layers = Layers({"num_hidden_layers": 2, "kinds": ["a", "b"], "vision": {"depth": 4}}, defaults)
    assert layers.keys == {"num_hidden_layers": 8, "vision": {"depth": 5}}
    assert layers.counts == {"num_hidden_layers": 2, "vision.depth": 1}
    assert list(layers.conditions()) == ["num_hidden_layers % 2 == 0", 'kinds cycles ["a", "b"]']


def test_layers_ahead_of_those_that_go_round_are_told_apart():
    defaults = {"num_hidden_layers": 40, "mlps": ["dense"] + ["sparse"] * 39}
    layers = Layers({"num_hidden_layers": 4, "mlps": ["dense", "sparse"]}, defaults)
    assert layers.keys == {"num_hidden_layers": 6} and layers.counts == {"num_hidden_layers": 1} and layers.few() == {"num_hidden_layers": 3}
    assert list(layers.conditions()) == ['mlps cycles ["sparse"] after ["dense"]']
    layers = Layers({"num_hidden_layers": 4, "mlps": []}, {**defaults, "kinds": ["a", "a", "a", "b"] * 10})
    assert layers.keys == {"num_hidden_layers": 20} and layers.few() == {"num_hidden_layers": 8}
    assert list(layers.conditions()) == ["num_hidden_layers % 4 == 0", 'mlps cycles ["sparse"] after ["dense"]', 'kinds cycles ["a", "a", "a", "b"]']


def test_lists_of_layers_by_number_go_round_too():
    defaults = {"num_hidden_layers": 40, "cross_layers": [3, 8, 13, 18, 23, 28, 33, 38], "out_layers": [3, 7, 15, 23, 30], "skip_layers": []}
    layers = Layers({"num_hidden_layers": 3, "cross_layers": [1], "out_layers": [0, 1], "skip_layers": []}, defaults)
    assert layers.keys == {"num_hidden_layers": 20, "out_layers": [0, 1], "skip_layers": []} and layers.counts == {"num_hidden_layers": 5}
    assert list(layers.conditions()) == ["num_hidden_layers % 5 == 0", "cross_layers numbers num_hidden_layers in [false, false, false, true, false]"]
    assert layers.with_numbers({"num_hidden_layers": 10}) == {"num_hidden_layers": 10, "cross_layers": [3, 8]}
    assert layers.with_numbers({"num_hidden_layers": 10, "cross_layers": [1]})["cross_layers"] == [1]
    assert layers.with_numbers({}) == {}, "a class says it itself"


def test_a_list_of_all_layers_by_number_goes_round_too():
    """Llama 4's moe_layers: as many as there are, not those of the tiny configuration."""
    defaults = {"num_hidden_layers": 48, "kinds": ["a", "a", "a", "b"] * 12, "moe_layers": list(range(48))}
    layers = Layers({"num_hidden_layers": 2, "kinds": ["a", "b"], "moe_layers": [0, 1]}, defaults)
    assert layers.keys == {"num_hidden_layers": 16} and layers.places == {}
    assert "moe_layers numbers num_hidden_layers in [true]" in layers.conditions()
    assert layers.with_numbers({"num_hidden_layers": 3})["moe_layers"] == [0, 1, 2]


def test_a_last_round_that_is_done_otherwise_asks_for_one_more():
    """Gemma 4 on transformers 5.24.0: its last layers keep their keys and values, and with as many rounds as others take the ones before are too few to be told as rounds."""
    layers = Layers({"num_hidden_layers": 2, "kinds": ["a", "b"]}, {"num_hidden_layers": 26, "kinds": ["a", "b"] * 13})

    def more(are_alike):
        return list(layers.more_rounds(layers.keys, lambda keys, other: are_alike(keys["num_hidden_layers"], other["num_hidden_layers"])))

    assert layers.keys == {"num_hidden_layers": 8}
    assert more(lambda count, other: min(count, other) > 8) == [("num_hidden_layers", 10)]
    assert more(lambda count, other: True) == more(lambda count, other: False) == []


def test_lists_that_say_how_often_kinds_come_follow_how_many_layers_there_are():
    """GPT-Neo: the class makes the second list of the first."""
    defaults = {"num_layers": 24, "types": [[["a", "b"], 12]], "layers": ["a", "b"] * 12}
    layers = Layers({**defaults, "num_layers": 2}, defaults)
    assert layers.keys == {"num_layers": 5} and layers.counts == {"num_layers": 1}
    assert list(layers.conditions()) == ['types spells num_layers of ["a", "b"]']
    assert layers.with_numbers({"num_layers": 5})["types"] == layers.with_numbers({"num_hidden_layers": 5})["types"] == [[["a", "b"], 2], [["a"], 1]]
    assert layers.with_numbers({}) == {}, "a class says it itself"


def test_layers_that_are_left_over_are_cases_of_their_own():
    defaults = {"num_hidden_layers": 26, "kinds": ["a", "a", "b"] * 8 + ["a", "a"]}
    layers = Layers({"num_hidden_layers": 3, "kinds": ["a", "a", "b"]}, defaults, {"num_hidden_layers": [34, 48, 62, 60]})
    assert layers.rests() == {"num_hidden_layers": (3, [0, 1, 2])}
    assert list(layers.conditions()) == ['kinds cycles ["a", "a", "b"]']


class Taken(Seen):
    """Layers by number give something."""

    def __init__(self, keys):
        super().__init__({**BASE, "layers": keys["part"]["layers"]})
        numbers = keys["part"]["taken_layers"]
        self.done = (len(numbers), max(numbers) < keys["part"]["layers"])
        self.exact = (keys["part"], self.done)


def test_layers_by_number_are_axes_where_nothing_but_numbers_follows_them():
    defaults = {"ffn": 128, "layers": 2, "num_layers": 6, "part": {"layers": 24, "num_layers": 24, "taken_layers": [5, 11, 17]}}
    layers = Layers({"num_layers": 4, "part": {"num_layers": 4, "taken_layers": [0, 1]}}, defaults)
    assert layers.keys == {"num_layers": 8, "part": {"num_layers": 20, "taken_layers": [4, 9, 15]}}  # the other part may take three
    assert layers.places == {"part.taken_layers": "part.num_layers"} and layers.few() == {"num_layers": 5, "part.num_layers": 5, "part.taken_layers": [0, 1, 2]}
    base = {"part": {"layers": 20, "taken_layers": [4, 9, 14]}}
    found = Axes(base, Taken, lambda keys: True, {"part.layers": 1}, places={"part.taken_layers": "part.layers"})
    assert found.names() == ["part.layers", "part.taken_layers.0", "part.taken_layers.1", "part.taken_layers.2"]
    assert found.guards == ["part.taken_layers rises 3 below part.layers"]
    for draw in found.draws(6, seed=1):
        numbers = [-1, *draw["part"]["taken_layers"], draw["part"]["layers"]]
        apart = [b - a for a, b in zip(numbers, numbers[1:])]
        assert all(a > 3 for a in apart) and all(a != b for a, b in zip(apart[1:], apart[2:])), numbers


def test_layers_by_number_of_an_unused_part_are_no_axes():
    class Unused(Taken):
        def __init__(self, keys):
            super().__init__(keys)
            self.exact = (len(keys["part"]["taken_layers"]), self.done)

    base = {"part": {"layers": 20, "taken_layers": [4, 9, 14]}}
    found = Axes(base, Unused, lambda keys: True, {"part.layers": 1}, places={"part.taken_layers": "part.layers"})
    assert found.names() == [] and found.guards == ["part.taken_layers rises 3 below part.layers"]


def test_layers_by_number_that_decide_what_is_done_are_held():
    class Other(Taken):
        def __init__(self, keys):
            super().__init__(keys)
            self.done += (keys["part"]["taken_layers"],)

    base = {"part": {"layers": 20, "taken_layers": [4, 9, 14]}}
    assert Axes(base, Other, lambda keys: True, {"part.layers": 1}, places={"part.taken_layers": "part.layers"}).guards == ["part.taken_layers == [4, 9, 14]"]


class WithShortcut:
    """What comes in goes round a layer that leaves the width as it is."""

    def __init__(self, keys):
        self.goes_round = keys["embedding_size"] == keys["sizes"][0]
        self.exact = (keys["embedding_size"], self.goes_round)

    def is_alike(self, other):
        return self.goes_round == other.goes_round


def test_a_value_that_goes_another_way_by_itself_is_not_held_for():
    keys = {"embedding_size": 64, "sizes": [256]}
    found = Axes(keys, WithShortcut, lambda keys: True, {})
    assert found.groups == [["embedding_size"]] and "embedding_size != 256" not in found.guards
    draws = [draw for seed in range(8) for draw in found.draws(6, seed)]
    assert all(draw["embedding_size"] != 256 for draw in draws) and "embedding_size != 256" in found.guards


class OfChunks:
    """A text of 96 tokens that is of whole chunks or not."""

    def __init__(self, keys):
        self.is_whole = 96 % keys["chunk_size"] == 0
        self.exact = (keys["chunk_size"], keys["ffn"])

    def is_alike(self, other):
        return self.is_whole == other.is_whole


def test_a_value_that_is_that_of_no_other_key_is_held_for():
    found = Axes({"chunk_size": 16, "ffn": 33}, OfChunks, lambda keys: True, {})
    draws = [draw for seed in range(4) for draw in found.draws(4, seed)]
    assert found.groups == [["chunk_size"], ["ffn"]] and found.guards == []
    assert all(96 % draw["chunk_size"] == 0 for draw in draws) and any(draw["chunk_size"] != 16 for draw in draws)


def test_sizes_of_stages_are_no_kinds_of_layers():
    defaults = {"num_layers": 4, "depths": [2, 2, 6, 2]}
    layers = Layers(defaults, defaults)
    assert layers.keys["depths"] == [2, 2, 6, 2] and layers.cycles == {} and list(layers.conditions()) == []


class OfImages:
    """A tower whose width is its heads times their size, and whose images are whole patches."""

    def __init__(self, keys):
        part = keys["tower"]
        assert part["hidden_size"] == part["num_attention_heads"] * part["head_dim"]
        self.exact = [part["hidden_size"], part["head_dim"], part["image_size"] // part["patch_size"]]

    def is_alike(self, other):
        return True


def test_widths_that_are_heads_times_their_size_and_images_of_whole_patches():
    keys = {"tower": {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "image_size": 32, "patch_size": 8}}
    found = Axes(keys, OfImages, lambda keys: bool(OfImages(keys)), {})
    assert found.guards == [] and found.products == {"tower.hidden_size": ("tower.num_attention_heads", "tower.head_dim", None)}
    assert found.equalities() == ["tower.hidden_size == tower.num_attention_heads*tower.head_dim", "tower.image_size % tower.patch_size == 0"]
    draws = found.draws(6, seed=1)
    assert len(draws) == 6 and all(at(keys, "tower.image_size") % at(keys, "tower.patch_size") == 0 for keys in draws)
    assert len({at(keys, "tower.hidden_size") for keys in draws}) > 2 and len({at(keys, "tower.image_size") // at(keys, "tower.patch_size") for keys in draws}) > 1


class OfStates:
    """A width that is expanded to heads times their size."""

    def __init__(self, keys):
        assert keys["expand"] * keys["hidden_size"] == keys["n_heads"] * keys["mamba_d_head"]
        self.exact = [keys["hidden_size"], keys["n_heads"]]

    def is_alike(self, other):
        return True


def test_widths_that_are_expanded_to_heads_times_their_size():
    found = Axes({"n_heads": 8, "mamba_d_head": 16, "expand": 2, "hidden_size": 64}, OfStates, lambda keys: bool(OfStates(keys)), {})
    assert found.guards == ["expand == 2"] and found.equalities() == ["hidden_size == n_heads*mamba_d_head//expand"]
    draws = found.draws(6, seed=1)
    assert len(draws) == 6 and _told_apart([[keys["n_heads"], keys["mamba_d_head"]] for keys in draws])


class OfTwoMixers:
    """Attention and a state space beside it, which have heads of their own, and layers of two kinds in any order."""

    def __init__(self, keys):
        assert len(keys["kinds"]) == keys["layers"]
        self.exact = [keys["num_attention_heads"], keys["num_key_value_heads"], keys["mamba_num_heads"], keys["kinds"]]

    def is_alike(self, other):
        return True


def test_heads_of_a_state_space_are_told_from_those_of_attention_and_layers_are_in_any_order():
    found = Axes({"num_attention_heads": 8, "num_key_value_heads": 4, "mamba_num_heads": 8, "kinds": ["a", "b", "a", "b"], "layers": 4}, OfTwoMixers, lambda keys: bool(OfTwoMixers(keys)), {}, orders={"kinds": (["a", "b"], "layers")})
    draws = found.draws(6, seed=1)
    assert found.guards == [] and found.names() == ["num_attention_heads", "num_key_value_heads", "mamba_num_heads", "kinds.count"]
    assert len(draws) == 6 and _told_apart([[at(keys, name) for name in found.names()] for keys in draws])
    assert {keys["kinds"][0] for keys in draws} == {"a", "b"} and all(keys["layers"] == len(keys["kinds"]) for keys in draws)


class OfOneSize:
    """Heads of the one size for which something else has numbers, and whose class takes a width with a rest."""

    def __init__(self, keys):
        assert keys["hidden_size"] // keys["num_attention_heads"] == 16
        self.exact = [keys["hidden_size"], keys["num_attention_heads"]]

    def is_alike(self, other):
        return True


def test_a_width_with_a_rest_beside_its_heads_is_their_product():
    found = Axes({"hidden_size": 64, "num_attention_heads": 4}, OfOneSize, lambda keys: bool(OfOneSize(keys)), {})
    assert found.guards == [] and found.equalities() == ["hidden_size == num_attention_heads*16"]


class OfWidthSaidTwice:
    """A width that has to be said twice, and heads that divide it."""

    def __init__(self, keys):
        assert keys["text"]["hidden_size"] == keys["hidden_size"] and keys["hidden_size"] % keys["text"]["num_attention_heads"] == 0
        self.exact = [keys["hidden_size"], keys["text"]["num_attention_heads"]]

    def is_alike(self, other):
        return True


def test_a_width_that_is_said_twice_is_of_heads_of_any_size():
    found = Axes({"text": {"hidden_size": 64, "num_attention_heads": 4}, "hidden_size": 64}, OfWidthSaidTwice, lambda keys: bool(OfWidthSaidTwice(keys)), {})
    assert found.guards == [] and found.products == {} and found.equalities() == ["hidden_size == text.hidden_size"]
    assert len({keys["hidden_size"] // keys["text"]["num_attention_heads"] for keys in found.draws(6, seed=1)}) > 1


class OfFactors:
    """Frequencies, each of which is divided by a number; there have to be four."""

    def __init__(self, keys):
        assert len(keys["factors"]) == 4
        self.exact = [keys["width"]]

    def is_alike(self, other):
        return True


def test_of_factors_a_program_holds_for_how_many_there_are():
    keys = {"width": 8, "factors": [1.0, 1.5, 2.0, 8.0]}
    assert Axes(keys, OfFactors, lambda keys: True, {}).guards == ["factors.count == 4"]
    assert Axes({**keys, "factors": [1.0, 1.5, 2.0, 0.0]}, OfFactors, lambda keys: True, {}).guards == ["factors == [1.0, 1.5, 2.0, 0.0]"]  # nothing is divided by that


class OfTiedHeads(OfImages):
    """As many heads of keys as of queries, in such a tower."""

    def __init__(self, keys):
        super().__init__(keys)
        assert keys["tower"]["num_key_value_heads"] == keys["tower"]["num_attention_heads"]


def test_heads_are_tied_where_a_width_is_their_product():
    keys = {"tower": {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "num_key_value_heads": 4, "image_size": 32, "patch_size": 8}}
    found = Axes(keys, OfTiedHeads, lambda keys: bool(OfTiedHeads(keys)), {})
    assert found.guards == [] and ["tower.num_attention_heads", "tower.num_key_value_heads"] in found.groups
    draws = found.draws(6, seed=1)
    assert len(draws) == 6 and len({at(keys, "tower.num_key_value_heads") for keys in draws}) > 1


class OfThree:
    """Two widths of other parts have to be that of the text."""

    def __init__(self, keys):
        assert keys["hidden_size"] == keys["out"] == keys["projection"]
        self.exact = [keys["hidden_size"], keys["ffn"]]

    def is_alike(self, other):
        return True


def test_several_keys_that_have_to_be_equal_are_one_axis():
    found = Axes({"hidden_size": 64, "out": 64, "projection": 64, "ffn": 64}, OfThree, lambda keys: bool(OfThree(keys)), {})
    assert found.groups == [["ffn"], ["hidden_size", "out", "projection"]] or found.groups == [["hidden_size", "out", "projection"], ["ffn"]]
    assert sorted(found.equalities()) == ["out == hidden_size", "projection == hidden_size"]


class OfTwoParts:
    """As many heads of keys as there are heads, whatever another part has."""

    def __init__(self, keys):
        assert keys["num_attention_heads"] % keys["num_key_value_heads"] == 0
        self.exact = [keys["num_attention_heads"], keys["num_key_value_heads"], keys["tower"]["num_attention_heads"]]

    def is_alike(self, other):
        return True


def test_heads_of_another_part_are_not_tied_to_those_of_the_text():
    found = Axes({"num_attention_heads": 8, "num_key_value_heads": 4, "tower": {"num_attention_heads": 4}}, OfTwoParts, lambda keys: bool(OfTwoParts(keys)), {})
    assert found.groups == [["num_attention_heads"], ["num_key_value_heads"], ["tower.num_attention_heads"]]


def test_no_two_axes_go_together_in_all_draws():
    assert not _told_apart([[1, 12], [2, 24], [5, 60]]) and _told_apart([[1, 12], [2, 24], [5, 61]])
    assert _told_apart([[3, 12], [3, 24]])  # one that is always the same goes with none


def test_what_nobody_reads_is_not_looked_at():
    looked = []

    def look(keys):
        looked.append(keys)
        return Seen(keys)

    found = Axes(BASE, look, runs, {"layers": 1}, is_read=lambda path: path not in ("unused", "kernel"))
    assert "kernel == 4" not in found.guards and all(keys["kernel"] == 4 for keys in looked)
    assert found.groups == axes().groups


def test_what_is_held_for_one_value_is_not_looked_at():
    looked = []

    def look(keys):
        looked.append(keys)
        return Seen(keys)

    found = Axes(BASE, look, runs, {"layers": 1}, held=("ffn", "part.out"))
    assert found.guards[:2] == ["ffn == 128", "part.out == 64"] and set(found.guards[2:]) >= {"bias == false", "kernel == 4", "hidden_size == 64"}
    assert all(keys["ffn"] == 128 and keys["part"]["out"] == 64 for keys in looked) and all(keys["ffn"] == 128 for keys in found.draws(3, seed=1))


def test_the_kind_of_a_part_matters_where_it_is_taken_from_the_configuration():
    keys = {**BASE, "part": {"out": 64, "model_type": "x"}, "other": {"model_type": "y"}}
    found = Axes(keys, Seen, runs, {"layers": 1}, is_chosen=lambda path, kind: kind == "y")
    assert [guard for guard in found.guards if "model_type" in guard] == ['other.model_type == "y"']


class Deep:
    """As many things as there are layers, of a width."""

    seen = []

    def __init__(self, keys):
        Deep.seen.append(keys["layers"])
        self.layers, self.exact = keys["layers"], [keys["layers"], keys["ffn"]]

    def is_alike(self, other):
        return self.layers == other.layers or min(self.layers, other.layers) > 4


def test_other_keys_are_looked_at_with_few_layers():
    Deep.seen = []
    found = Axes({"ffn": 16, "layers": 5}, Deep, lambda keys: True, {"layers": 1}, few={"layers": 2})
    assert found.groups == [["ffn"], ["layers"]] and found.guards == []
    assert Deep.seen == [2, 5, 2, 2, 2, 6, 7]


def test_layers_in_no_order_are_as_many_as_they_are():
    kinds = ["a", "a", "b", "a", "b", "b", "a", "b", "a", "a"]
    layers = Layers({"num_hidden_layers": 2, "kinds": ["a", "b"]}, {"num_hidden_layers": 10, "kinds": kinds})
    assert layers.keys == {"num_hidden_layers": 10, "kinds": kinds} and layers.counts == {} and layers.cycles == {}
    assert list(layers.conditions()) == []


class Capped:
    """What is capped, unless there is no cap; the cap itself is a value.  A part of a list names layers beyond the few that are looked at."""

    def __init__(self, keys):
        if keys["eps"] is None:
            raise TypeError
        self.way = (keys["cap"] is None, [n for n in keys["odd_layers"] if n < keys["num_layers"]])
        self.exact = (*self.way, keys["num_layers"])

    def is_alike(self, other):
        return self.way == other.way


def test_what_may_be_none_and_what_names_layers_is_guarded():
    keys = {"eps": 1e-6, "cap": 30.0, "num_layers": 8, "odd_layers": [1, 6]}
    axes = Axes(keys, Capped, lambda keys: True, {"num_layers": 1}, few={"num_layers": 2})
    assert "cap > 0.0" in axes.guards and "odd_layers == [1, 6]" in axes.guards
    assert not any(guard.startswith("eps") for guard in axes.guards)


class OfSlopes:
    """As ALiBi's slopes: heads in two parts where they are no power of two; noise by an amount; a window where one is asked for, on texts of 96."""

    def __init__(self, keys):
        heads = keys["n_head"]
        if keys["hidden_size"] % heads:
            raise ValueError
        self.way = (heads & (heads - 1) == 0, keys["jitter_noise"] > 0, keys["layerdrop"] > 0.5, keys["use_sliding_window"] and keys["sliding_window"] < 96)
        self.exact = (*self.way, heads, keys["hidden_size"])

    def is_alike(self, other):
        return self.way == other.way


def test_what_another_amount_or_another_key_with_it_would_do_is_not_held_for():
    keys = {"n_head": 8, "hidden_size": 64, "jitter_noise": 0.0, "layerdrop": 0.0, "use_sliding_window": False, "sliding_window": 4096}
    found = Axes(keys, OfSlopes, lambda keys: bool(OfSlopes(keys)), {})
    assert {"jitter_noise == 0.0", "layerdrop == 0.0", "use_sliding_window == false", "n_head in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]"} <= set(found.guards)


class OfSections:
    """Heads are of one size, which sections of a rotation say; another part gives out as wide a thing."""

    def __init__(self, keys):
        assert keys["hidden_size"] == keys["num_attention_heads"] * 2 * sum(keys["sections"]) == keys["vision"]["hidden_size"]
        self.exact = (keys["hidden_size"], keys["ffn"])

    def is_alike(self, _):
        return True


def test_a_width_may_be_heads_of_one_size():
    base = {"hidden_size": 64, "num_attention_heads": 4, "ffn": 128, "sections": [2, 3, 3], "vision": {"hidden_size": 64}}

    def goes(keys):
        try:
            OfSections(keys)
        except AssertionError:
            return False
        return True

    found = Axes(base, OfSections, goes, {})
    assert found.groups == [["hidden_size", "vision.hidden_size"], ["num_attention_heads"], ["ffn"]] and found.guards == ["sections == [2, 3, 3]"]
    assert found.equalities() == ["vision.hidden_size == hidden_size", "hidden_size == num_attention_heads*16", "vision.hidden_size == num_attention_heads*16"]
    drawn = found.draws(3, seed=1)
    assert all(map(goes, drawn)) and len({at(keys, "hidden_size") for keys in drawn}) > 1


class OfHeads:
    """Projections of queries and of keys, of a model whose heads have a size that is a key."""

    def __init__(self, keys):
        heads, of_keys, size = (keys[name] for name in ("num_attention_heads", "num_key_value_heads", "head_dim"))
        assert heads % of_keys == 0
        self.exact = (heads * size, of_keys * size)

    def is_alike(self, other):
        return True


def test_width_of_keys_is_no_multiple_of_heads_in_all_draws():
    found = Axes({"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 16}, OfHeads, lambda keys: True, {})
    for seed in range(100):
        draws = found.draws(3, seed)
        shares = {keys["num_key_value_heads"] * keys["head_dim"] / keys["num_attention_heads"] for keys in draws}
        assert len(draws) == 3 and len(shares) > 1, seed
