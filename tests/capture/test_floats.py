"""Layers that differ in a float alone are one; what is dropped with no probability is not dropped."""

import pytest
from tidemark.capture.floats import any_float, without_floats
from tidemark.capture.folding import fold
from tidemark.capture.statements import Body, Statement
from tidemark.capture.terms import DtypeOf, Number, Ref, Typed

LAYER = Body("class", "Layer", False, (), (), (), ())


def made(value):
    return Typed(Ref(value), DtypeOf("T"), (Number(4, True),), ())


def scaled_by(floats):
    """Each layer is called with what the one before it gave, scaled by a number of its own."""
    statements = []
    for k, number in enumerate(floats):
        before, output, scaled = 2 * k, 2 * k + 1, 2 * k + 2
        statements += [
            Statement("call", f"layers.{k}", (made(output),), (("", Ref(before)),), body=LAYER),
            Statement("del", args=(("", Ref(before)),)),
            Statement("op", "mul", (made(scaled),), (("", Ref(output)), ("", number))),
            Statement("del", args=(("", Ref(output)),)),
        ]
    return [*statements, Statement("return", args=(("", Ref(2 * len(floats))),))]


@pytest.mark.parametrize("floats, is_one", [(("0.2", "0.36", "0.48", "0.57"), True), (("0.2", "0.0", "0.48", "0.0"), False), (("0.2", "2", "0.2", "2"), False)])
def test_layers_that_differ_in_floats_alone_are_told_once(floats, is_one):
    folded = fold(scaled_by(floats))
    assert (len(folded) == 2 and folded[0].kind == "repeat") == is_one
    if is_one:
        assert folded[0].block[2].args[1] == ("", "0.2")  # of the first


def test_what_is_no_float_is_itself():
    for term in ("None", "in_place", "inner", "-1", "%3", "", "info", Ref(1), Number(2, False)):
        assert any_float(term) == term
    assert {any_float(term) for term in ("1e-05", "-0.5", "inf", "nan", "3.0")} == {"1.0"}
    assert {any_float(term) for term in ("0.0", "-0.0", "0e10")} == {"0.0"}


def test_floats_of_a_text_are_one_but_for_what_is_not_dropped():
    assert without_floats("mul(%1, 0.0)\ndropout(%1, 0.0)\ndropout(%1, 0.25)") == "mul(%1, 1.0)\ndropout(%1, 0.0)\ndropout(%1, 1.0)"
