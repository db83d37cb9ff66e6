"""Layers of several kinds in any order are told once for each kind; with statements that nothing was captured for."""

import random

import pytest
from test_rows import dropped, made, named, op
from tidemark.capture.layers import Layers
from tidemark.capture.merging import Merger, merged_lines
from tidemark.capture.orders import ANY, base_order, by_kind, drawn_order, goes_without, in_order, letters_of, older_kinds
from tidemark.capture.sizes import Solver
from tidemark.capture.statements import Body, Statement
from tidemark.capture.terms import DtypeOf, Number, Ref
from tidemark.capture.text import Printer

KINDS = ["conv", "attention", "moe"]
LAYERS = {kind: Body("class", kind.title(), False, (("0", DtypeOf("T"), (Number(4, True),)),), (), (), (("", "$0"),)) for kind in KINDS}
ORDERS = (
    ["conv", "attention", "moe", "conv", "moe"],
    ["moe", "attention", "conv", "moe", "attention", "conv", "attention"],
    ["attention", "moe", "conv", "attention", "conv", "moe"],
    ["conv", "conv", "moe", "attention", "attention", "conv", "moe", "conv", "moe", "attention", "conv"],
)


def layers(kinds, keeps_first=True, masks=("attention",)):
    """Hidden states go through the layers; the first are there until the end, as another name has them."""
    statements = [op("embed", [made(1)], Ref(0)), op("mask", [made(2)], Ref(0))]
    for k, kind in enumerate(kinds):
        given = (("0", Ref(k + 99 if k else 1)), *([("mask", Ref(2))] if kind in masks else []))
        statements.append(Statement("call", f"layers.{k}", (made(k + 100),), given, body=LAYERS[kind]))
        statements += [dropped(k + 99 if k else 1)] if k or not keeps_first else []
    return [*statements, op("norm", [made(900)], Ref(len(kinds) + 99)), dropped(len(kinds) + 99, *([1] if keeps_first else []), 2), Statement("return", args=(("", Ref(900)),))]


def told(kinds, **how):
    return named(by_kind(layers(kinds, **how), {"kinds": (kinds, KINDS)}))


def text_of(body):
    printer = Printer()
    printer.name(body)
    return printer.out[-1].splitlines()


def merged(orders, **how):
    merger = Merger(Solver([{"kinds.count": len(order), "B": b} for order, b in zip(orders, (2, 5, 4, 7))]))
    body = merger.body(tuple(told(order, **how) for order in orders))
    assert merger.unsolved == 0
    return body


def test_what_is_done_of_each_kind_is_told_once_whatever_the_order():
    assert text_of(merged(ORDERS)) == [
        "class Model#1():",
        "  %0: T[4] = embed(%1)",
        "  %2: T[4] = mask(%1)",
        "  each i in 0..0 by kinds:",
        '    of "conv":',
        "      %3[i]: T[4] = call layers.{i}: Conv#1(0=%0)",
        '    of "attention":',
        "      %3[i]: T[4] = call layers.{i}: Attention#1(0=%0, mask=%2)",
        '    of "moe":',
        "      %3[i]: T[4] = call layers.{i}: Moe#1(0=%0)",
        "  each i in 1..kinds.count - 1 by kinds:",
        '    of "conv":',
        "      %3[i]: T[4] = call layers.{i}: Conv#1(0=%3[i - 1])",
        "      del %3[i - 1]",
        '    of "attention":',
        "      %3[i]: T[4] = call layers.{i}: Attention#1(0=%3[i - 1], mask=%2)",
        "      del %3[i - 1]",
        '    of "moe":',
        "      %3[i]: T[4] = call layers.{i}: Moe#1(0=%3[i - 1])",
        "      del %3[i - 1]",
        "  %4: T[4] = norm(%3[kinds.count - 1])",
        "  del %3[kinds.count - 1] %0 %2",
        "  return %4",
    ]


def test_as_many_layers_of_another_part_are_not_told_by_kind():
    """LFM2-VL: its images go through a tower of layers that are all alike, of which there may be as many as the text has."""
    statements, entries = layers(["moe"] * 5), ["conv", "attention", "conv", "moe", "attention"]
    assert by_kind(statements, {"kinds": (entries, KINDS)}) == statements
    assert by_kind(layers(entries), {"kinds": (entries, KINDS)}) != layers(entries)


def test_what_is_before_all_layers_may_end_with_the_first():
    text = text_of(merged(ORDERS, keeps_first=False))
    assert text[4:7] == ['    of "conv":', "      %3[i]: T[4] = call layers.{i}: Conv#1(0=%0)", "      del %0"]
    assert text[-2] == "  del %3[kinds.count - 1] %2"


@pytest.mark.parametrize("change", ["another layer beside", "a value that goes on", "a layer that does otherwise", "a last kind that is seen nowhere else"])
def test_layers_that_mind_their_neighbours_are_not_told_by_kind(change):
    kinds, statements = ORDERS[1], layers(ORDERS[1])
    calls = [at for at, s in enumerate(statements) if s.kind == "call"]
    if change == "another layer beside":
        statements.insert(calls[3], op("neg", [made(800)], Ref(2)))
    elif change == "a value that goes on":
        statements[-1] = statements[-1]._replace(args=(("", Ref(900)), ("", Ref(102))))
    elif change == "a layer that does otherwise":
        statements[calls[5]] = statements[calls[5]]._replace(args=(*statements[calls[5]].args, ("mask", Ref(2))))
    else:
        kinds, statements = ["conv", "conv", "moe"], layers(["conv", "conv", "moe"])
    assert by_kind(statements, {"kinds": (kinds, KINDS)}) == statements


def test_a_kind_may_be_left_out_where_nothing_else_is_done_otherwise():
    without = ["conv", "attention", "conv", "conv", "attention"]
    assert goes_without("moe", told(ORDERS[0]), told(without))
    assert not goes_without("conv", told(ORDERS[0]), told(without))
    other = told(without)
    other.statements = other.statements[1:]
    assert not goes_without("moe", told(ORDERS[0]), other)


def test_modules_are_told_by_kind():
    def groups(kinds):
        return [(str(k), str(k), kind + " module") for k, kind in enumerate(kinds)]

    lines = [[f"{place}: {inner}" for place, inner in in_order(groups(order), {"kinds": (order, KINDS)})] for order in ORDERS]
    assert merged_lines(lines, Solver([{"kinds.count": len(order)} for order in ORDERS])) == [f'0..kinds.count - 1 of kinds "{kind}": {kind} module' for kind in KINDS]
    assert in_order(groups(ORDERS[0]), {"kinds": (ORDERS[1], KINDS)}) is None  # of another list
    assert in_order([("0", "4", "conv module")], {"kinds": (ORDERS[0], KINDS)}) is None  # all are alike
    assert in_order([("embed", "embed", "a"), ("norm", "norm", "b")], {"kinds": (["a", "b"], ["a", "b"])}) is None


def test_every_kind_is_drawn_behind_the_first_layer_and_every_kind_begins():
    drawn = [drawn_order(KINDS, random.Random(seed), seed) for seed in range(9)]
    assert [entries[0] for entries in drawn[:3]] == KINDS
    for entries in [*drawn, base_order(KINDS)]:
        assert {*entries[1:-1]} == {*KINDS}


def test_a_part_has_as_many_layers_as_its_list():
    defaults = {"layer_types": ["conv", "conv", "moe"], "num_layers": 3, "size": 4}
    layers_ = Layers(dict(defaults), defaults, {"layer_types": ANY})
    assert layers_.orders == {"layer_types": (["conv", "moe"], "num_layers")} and not layers_.counts and not layers_.cycles
    assert layers_.keys == {"layer_types": ["conv", "moe", "conv", "moe"], "num_layers": 4, "size": 4}
    assert list(layers_.conditions()) == ['layer_types of ["conv", "moe"]', "num_layers == layer_types.count"]
    layers_.needed = {"layer_types": ["moe"]}
    assert next(layers_.conditions()) == 'layer_types of ["conv", "moe"] with ["moe"]'


class Config:
    """Says its layers as a word, too."""

    pattern, name, size = "CMC", "abc", 3


def test_a_word_may_spell_the_kinds():
    letters, words = {"C": "conv", "M": "moe"}, ["pattern", "name", "size", "other"]

    def made_of(keys):
        return [letters[c] for c in keys["pattern"]] if "pattern" in keys else ["conv", "moe", "conv"]

    assert list(letters_of(Config(), words, ["conv", "moe", "conv"], made_of)) == [("pattern", letters)]
    assert list(letters_of(Config(), words, ["conv", "conv", "moe"], made_of)) == []


def test_kinds_may_be_called_as_before():
    remapped = {"attention": "full", "mamba": "linear", "sparse": "indexed"}
    names = {"attention": "full", "mamba": "linear"}
    assert older_kinds(["full", "linear"], remapped, lambda entries: [remapped.get(entry, entry) for entry in entries]) == names
    assert older_kinds(["full", "linear"], remapped, lambda entries: entries) == {}  # the class takes none of them
    assert older_kinds(["full", "linear"], remapped, lambda entries: [{"full": 1, "linear": 2}[entry] for entry in entries]) == {}  # it has an error for them
