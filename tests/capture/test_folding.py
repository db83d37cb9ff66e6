"""Layers that go round are one `repeat`, as many as there are."""

from tidemark.capture.bodies import Statement
from tidemark.capture.folding import fold
from tidemark.capture.terms import DtypeOf, Ref, Typed

FIRST, OTHER = object(), object()   # the bodies of layers


def value(number):
    return Typed(Ref(number), DtypeOf("float32"), (), ())


def with_a_bias_of_the_first(layers):
    """The first layer makes what all others are given, too; each input is deleted behind the layer that read it (transformers/models/t5)."""
    bias = Ref(1000)
    statements = [Statement("call", "block.0", (value(1), value(1000)), (("0", Ref(0)),), body=FIRST)]
    for layer in range(1, layers):
        statements += [Statement("del", args=(("", Ref(layer - 1)),)), Statement("call", f"block.{layer}", (value(layer + 1), bias), (("0", Ref(layer)), ("2", bias)), body=OTHER)]
    return [*statements, Statement("del", args=(("", Ref(layers - 1)),)), Statement("call", "norm", (value(layers + 1),), (("0", Ref(layers)),), body=FIRST)]


def test_even_and_odd_numbers_of_layers_fold_alike():
    folded = [fold(with_a_bias_of_the_first(layers)) for layers in range(5, 12)]
    assert {tuple(s.kind for s in statements) for statements in folded} == {("call", "del", "repeat", "call")}
    for layers, statements in zip(range(5, 12), folded):
        assert [s.kind for s in statements[2].block] == ["call", "del"] and statements[2].block[0].name == "block.{i}"
        assert statements[2].count.value == layers - 1
