"""What is done for each image, or for each layer, is told once; with statements that nothing was captured for."""

import pytest
from tidemark.capture.experts import Shares, shares_of, unevenly, unlike
from tidemark.capture.merging import Differs, Merger, SameSizes, merged_lines
from tidemark.capture.rows import Uneven, in_rows
from tidemark.capture.sizes import Solver
from tidemark.capture.statements import Body, Statement, replace_terms
from tidemark.capture.terms import DtypeOf, Element, Listed, Number, Ref, Slice, Span, Typed, walk_terms
from tidemark.capture.text import Printer
from tidemark.capture.windows import Windows, names_of


def made(value, *flags):
    return Typed(Ref(value), DtypeOf("T"), (Number(4, True),), flags)


def op(name, results, *args):
    return Statement("op", name, tuple(results), tuple(("", a) for a in args))


def dropped(*values):
    return Statement("del", args=tuple(("", Ref(v)) for v in values))


def for_each_image(count):
    """A list is taken apart, what each image gives is put together, and the loop's variable dies a round later."""
    images, done, before = range(1, count + 1), [], None
    statements = [op("unbind", [made(v, "view") for v in images], Ref(0), Number(0, False))]
    for k, image in enumerate(images):
        value = 100 + 10 * k
        statements += [
            op("getitem", [made(value)], Ref(image), Number(16 * k, False), Slice(Number(0, False), Number(3 * image, False), "None")),
            op("neg", [made(value + 1)], Ref(value)),
            dropped(value, *([] if before is None else [before])),
            op("abs", [made(value + 2)], Ref(value + 1)),
        ]
        done.append(value + 1)
        before = value + 2
    return [*statements, op("cat", [made(9000)], Listed(tuple(map(Ref, done))), Number(0, False)), dropped(*reversed(images[:-1]), images[-1], *done, before), Statement("return", args=(("", Ref(9000)),))]


def for_each_side(count):
    """What is done with for an image dies with it; after the last one the list does, too."""
    images, done = range(1, count + 1), []
    statements = [op("unbind", [made(v, "view") for v in images], Ref(0), Number(0, False))]
    for image in images:
        value = 100 + 10 * image
        statements += [op("getitem", [made(value)], Ref(image)), op("neg", [made(value + 1)], Ref(value)), dropped(value, *(reversed(images) if image == count else []))]
        done.append(value + 1)
    for value in done:
        statements += [op("flatten", [made(value + 1)], Ref(value))]
    return [*statements, op("cat", [made(9000)], Listed(tuple(Ref(value + 1) for value in done))), Statement("return", args=(("", Ref(9000)),))]


def for_each_pair(count):
    """Two sides of each image, which die pair by pair from the last but one."""
    images = range(1, count + 1)
    statements = [op("unbind", [made(v, "view") for v in images], Ref(0), Number(0, False))]
    for image in images:
        statements += [op("height", [made(100 * image)], Ref(image)), op("width", [made(100 * image + 1)], Ref(image))]
    return [*statements, dropped(*(100 * image + side for image in reversed(images[:-1]) for side in (1, 0))), Statement("return", args=(("", Ref(100 * count)),))]


def for_each_size(count):
    """Taken apart by sizes that are told as numbers."""
    return [
        op("split", [made(v, "view") for v in range(1, count + 1)], Ref(0), Listed(tuple(Number(4, False) for _ in range(count))), Listed(tuple(Number(16 * k + 2, False) for k in range(count)))),
        Statement("return", args=(("", Ref(count)),)),
    ]


def for_each_layer(count):
    """All outputs of layers are kept, and returned as a list."""
    statements, values = [], [0]
    for k in range(count):
        statements.append(Statement("call", f"layers.{k}", (made(k + 1),), (("0", Ref(k)),), body=LAYER))
        values.append(k + 1)
    return [*statements, Statement("return", args=tuple((f"hidden_states.{k}", Ref(v)) for k, v in enumerate(values)))]


def for_each_layer_by_hooks(count):
    """All outputs of layers but the last are found by hooks (transformers/utils/output_capturing.py)."""
    *statements, _ = for_each_layer(count)
    return [*statements, Statement("return", args=(("last_hidden_state", Ref(count)), *((f"^{k}", Ref(k + 1)) for k in range(count - 1))))]


def for_each_image_of_each_sample(samples, images):
    """What a sample gives is deleted when the next one has begun; its images are taken from one list of all."""
    taken = range(1, samples * images + 1)
    statements, before = [op("unbind", [made(v, "view") for v in taken], Ref(0), Number(0, False))], ()
    for sample in range(samples):
        value = 10000 + 1000 * sample
        statements += [op("mask", [made(value)], Ref(0), Number(sample, False)), *([dropped(*before)] if before else [])]
        given = []
        for image in range(images):
            given.append(value + 10 * image + 1)
            statements += [op("grid", [made(given[-1] + 1)], Ref(taken[sample * images + image])), op("place", [made(given[-1])], Ref(given[-1] + 1), Ref(value)), dropped(given[-1] + 1)]
        statements += [op("cat", [made(value + 999)], Listed(tuple(map(Ref, given)))), op("set", [], Ref(0), Ref(value + 999))]
        before = (value + 999, *reversed(given), value)
    return [*statements, Statement("return", args=(("", Ref(before[0])),))]


LAYER = Body("class", "Layer", False, (("0", DtypeOf("T"), (Number(4, True),)),), (), (), (("", "$0"),))


def named(statements):
    """Values by the order in which they appear, as in a body."""
    names = {}

    def name(term):
        if isinstance(term, (Element, Span)) and isinstance(term.row, Element):  # of a row of rows
            return term._replace(row=name(term.row))
        if isinstance(term, (Element, Span)):
            return term._replace(row="".join(f"%{names.setdefault(row, len(names))}" for row in (term.row if type(term.row) is tuple else (term.row,))))
        return f"%{names.setdefault(term, len(names))}" if isinstance(term, Ref) else term

    def of(statement):
        for result in statement.results:  # results first, as a body's
            for term in walk_terms(result):
                name(term)
        return replace_terms(statement, name)

    *rest, ending = map(of, statements)
    return Body("class", "Model", False, (), tuple(rest), (), ending.args)


def text_of(make, counts, name):
    bodies = tuple(named(in_rows(make(n), [n])) for n in counts)
    merger, printer = Merger(Solver([{name: n, "B": b} for n, b in zip(counts, (2, 5, 4, 7))])), Printer()
    printer.name(merger.body(bodies))
    assert merger.unsolved == 0
    return printer.out[-1].splitlines()


def test_images_are_told_once_whatever_their_number():
    assert text_of(for_each_image, (6, 5, 12, 14), "images") == [
        "class Model#1():",
        "  %0[0..images - 1]: T[4] view = unbind(%1, 0)",
        "  %2: T[4] = getitem(%0[0], 0, slice(0, 3, None))",
        "  %3[0]: T[4] = neg(%2)",
        "  del %2",
        "  each i in 1..images - 1:",
        "    %4[i]: T[4] = abs(%3[i - 1])",
        "    %5[i]: T[4] = getitem(%0[i], 16*i, slice(0, 3*i + 3, None))",
        "    %3[i]: T[4] = neg(%5[i])",
        "    del %5[i] %4[i]",
        "  %6: T[4] = abs(%3[images - 1])",
        "  %7: T[4] = cat([%3[0..images - 1]], 0)",
        "  del %0[images - 2..0] %0[images - 1] %3[0..images - 1] %6",
        "  return %7",
    ]


def test_the_last_round_ends_as_the_others_do():
    assert text_of(for_each_side, (6, 5, 12, 14), "images") == [
        "class Model#1():",
        "  %0[0..images - 1]: T[4] view = unbind(%1, 0)",
        "  each i in 0..images - 1:",
        "    %2[i]: T[4] = getitem(%0[i])",
        "    %3[i]: T[4] = neg(%2[i])",
        "    del %2[i]",
        "  del %0[images - 1..0]",
        "  each i in 0..images - 1:",
        "    %4[i]: T[4] = flatten(%3[i])",
        "  %5: T[4] = cat([%4[0..images - 1]])",
        "  return %5",
    ]


def test_a_number_for_each_is_told_once():
    assert text_of(for_each_size, (6, 5, 12, 14), "images")[1] == "  %0[0..images - 1]: T[4] view = split(%1, [4 for i in 0..images - 1], [16*i + 2 for i in 0..images - 1])"


def test_pairs_die_pair_by_pair():
    assert text_of(for_each_pair, (6, 5, 12, 14), "images")[-2:] == ["  del %3%2[images - 2..0]", "  return %2[images - 1]"]


def test_layers_whose_outputs_are_kept_are_told_once():
    assert text_of(for_each_layer, (5, 6, 8, 7), "layers") == ["class Model#1():", "  each i in 1..layers:", "    %0[i]: T[4] = call layers.{i - 1}: Layer#1(0=%0[i - 1])", "  return hidden_states=%0[0..layers]"]


def test_what_hooks_find_in_layers_is_one_list():
    assert text_of(for_each_layer_by_hooks, (5, 6, 8, 7), "layers")[-1] == "  return last_hidden_state=%0[layers], ^0=%0[1..layers - 1]"


def test_few_images_are_no_row():
    assert in_rows(for_each_image(4), [4]) == for_each_image(4)


def test_what_is_not_alike_in_all_rounds_stays_as_it_was():
    statements = for_each_image(6)
    odd = statements.index(next(s for s in statements if s.name == "abs" and s.args[0][1] == Ref(121)))
    statements[odd] = statements[odd]._replace(name="sqrt")
    assert not any(s.kind == "each" for s in in_rows(statements, [6]))


def layer_before_last(count):
    """Of all outputs of layers, the last and the one before it are returned."""
    *statements, _ = for_each_layer(count)
    return [*statements, Statement("return", args=(("last", Ref(count)), (f"hidden_states.{count - 1}", Ref(count - 1))))]


def test_what_is_returned_by_its_place_from_the_end_has_the_name_of_the_list():
    assert text_of(layer_before_last, (5, 6, 8, 7), "layers")[-1] == "  return last=%0[layers], hidden_states=%0[layers - 1]"


def test_captures_of_one_program_may_differ_in_sizes():
    bodies = tuple(named([op("neg", [Typed(Ref(0), DtypeOf("T"), (Number(n, True),), ())], Number(n, False)), Statement("return", args=(("", Ref(0)),))]) for n in (4, 5))
    assert Merger(lambda values: "0").body(bodies)
    with pytest.raises(Differs, match="4 or 5"):
        SameSizes(lambda values: "0").body(bodies)
    assert SameSizes(lambda values: "0").body((bodies[0], bodies[0]))


def test_a_call_here_and_rounds_of_calls_there_differ():
    end = Statement("return", args=(("", "$0"),))
    call = Statement("call", "layers.0", body=named([end]))
    rounds = Statement("repeat", Number(0, False), block=(call,), count=Number(3, False))
    with pytest.raises(Differs, match="layers.0 here"):
        Merger(lambda values: "0").body((named([call, end]), named([rounds, end])))


def test_the_last_layer_of_any_number_is_a_range_of_one():
    trees = [["modules Model", "  layers: nn.ModuleList", f"    0..{n - 2}: Layer", f"    {n - 1}: Last"] for n in (5, 6, 8, 7)]
    assert merged_lines(trees, Solver([{"layers": n, "B": b} for n, b in zip((5, 6, 8, 7), (2, 5, 4, 7))]))[2:] == ["    0..layers - 2: Layer", "    layers - 1..layers - 1: Last"]


def test_images_of_samples_are_rounds_within_rounds():
    counts = [(6, 10), (10, 6), (7, 11), (8, 12)]
    bodies = tuple(named(in_rows(for_each_image_of_each_sample(samples, images), [samples * images, images], [samples])) for samples, images in counts)
    merger, printer = Merger(Solver([{"B": samples, "images": samples * images} for samples, images in counts])), Printer()
    printer.name(merger.body(bodies))
    assert merger.unsolved == 0
    text = printer.out[-1].splitlines()
    outer = next(line for line in text if "each j" in line)
    within = text[text.index(outer) + 1 :]
    assert outer == "  each j in 1..B - 1:"
    assert "    each i in 0..images//B - 1:" in within
    assert any(line.endswith("= grid(%0[i + (images//B)*j])") or line.endswith("= grid(%0[i + (images//B)*j + images//B])") for line in within), within
    assert any("del " in line and "[j - 1][images//B - 1..0]" in line for line in within), within


def for_each_window(windows):
    """A list with what each window has, and something done with it."""
    lengths, statements = windows.lengths(), []
    values = [Ref(k) for k in range(len(lengths))]
    typed = [Typed(value, DtypeOf("T"), (Number(3, True), Number(length, True)), ("view",)) for value, length in zip(values, lengths)]
    statements.append(Statement("op", "split", tuple(typed), (("", Ref(-1)), ("", Listed(tuple(Number(length, False) for length in lengths))))))
    made = [Ref(1000 + k) for k in range(len(lengths))]
    for value, one, length in zip(values, made, lengths):
        statements.append(op("neg", [Typed(one, DtypeOf("T"), (Number(length, True), Number(length, True)), ())], value))
    statements.append(op("cat", [Typed(Ref(5000), DtypeOf("T"), (Number(sum(lengths), True),), ())], Listed(tuple(made))))
    statements.append(Statement("del", args=tuple(("", v) for v in [*values, *made])))
    return [*statements, Statement("return", args=(("", Ref(5000)),))]


def test_windows_are_told_once_with_as_many_patches_as_they_have():
    given = [(12, 20, 5), (4, 12, 6), (16, 20, 7), (12, 24, 8), (12, 14, 5), (8, 20, 9)]
    windows = [Windows(8, *sizes) for sizes in given]
    bodies = tuple(named(in_rows(for_each_window(w), [w.images, w.rounds()], uneven=Uneven(w))) for w in windows)
    merger, printer = Merger(Solver([{"grid_h": down, "grid_w": across, "images": images} for down, across, images in given], made=names_of(windows))), Printer()
    printer.name(merger.body(bodies))
    assert merger.unsolved == 0
    length = "min(8, grid_h - 8*(i//ceildiv(grid_w, 8) % ceildiv(grid_h, 8)))*min(8, grid_w - 8*(i % ceildiv(grid_w, 8)))"
    last = "images*ceildiv(grid_h, 8)*ceildiv(grid_w, 8) - 1"
    assert printer.out[-1].splitlines() == [
        "class Model#1():",
        f"  %0[0..{last}]: T[3, {length}] view = split(%1, [{length} for i in 0..{last}])",
        f"  each i in 0..{last}:",
        f"    %2[i]: T[{length}, {length}] = neg(%0[i])",
        f"  %3: T[grid_h*grid_w*images] = cat([%2[0..{last}]])",
        f"  del %0[0..{last}] %2[0..{last}]",
        "  return %3",
    ]


def test_the_patches_of_windows_are_those_of_the_image():
    assert Windows(8, 12, 20, 2).lengths() == (64, 64, 32, 32, 32, 16) * 2
    assert Windows(8, 8, 16, 3).lengths() == (64,) * 6
    windows = Windows(8, 12, 20, 3)
    text = windows.length(windows.lengths()[1:16], 0)  # of all but the first
    count = {"ceildiv": lambda a, b: -(-a // b), "min": min, "grid_h": 12, "grid_w": 20}
    assert [eval(text, {**count, "i": i}) for i in range(15)] == list(windows.lengths()[1:16])
    assert windows.length((64, 64, 32, 32, 16, 16), 0) is None and Windows(8, 8, 16, 3).length((64,) * 6, 0) is None


def through_experts(shares):
    """Those that any token chooses, one after the other: a call for as many rows as it has tokens, whose result dies a round later."""
    lengths, before, statements = shares.lengths(), None, [Statement("op", "torch.Tensor.nonzero", (Typed(Ref(900), DtypeOf("int64"), (Number(shares.rounds(), True), Number(1, True)), ()),), (("", Ref(-1)),), "data")]
    numbers = [Ref(k) for k in range(len(lengths))]
    statements.append(op("unbind", [Typed(n, DtypeOf("int64"), (Number(1, True),), ("view",)) for n in numbers], Ref(900), Number(0, False)))
    for number, length in zip(numbers, lengths):
        value, rows = 1000 + 10 * number.value, Number(length, True)
        act = Body("class", "Act", False, (("0", DtypeOf("T"), (rows,)),), (op("relu", [Typed("%0", DtypeOf("T"), (rows,), ())], "$0"),), (), (("", "%0"),))
        statements += [
            Statement("op", "where", (Typed(Ref(value), DtypeOf("int64"), (rows,), ()),), (("", number),), "data"),
            *([dropped(before)] if before else []),
            Statement("call", "act", (Typed(Ref(value + 1), DtypeOf("T"), (rows,), ()),), (("0", Ref(value)),), body=act),
            dropped(value),
        ]
        before = value + 1
    return [*statements, dropped(before, *range(len(lengths) - 1, -1, -1), 900), Statement("return", args=())]


def test_experts_are_told_once_with_as_many_tokens_as_choose_them():
    names, given = ("num_experts_per_tok", "num_experts"), [(194, 2, 6), (447, 4, 7), (1015, 2, 12), (1228, 6, 18)]
    shares = [Shares(*sizes, names) for sizes in given]
    bodies = tuple(named(in_rows(through_experts(s), [s.rounds()], uneven=Uneven(s))) for s in shares)
    points = [{"B": 1, "S": tokens, names[0]: chosen, names[1]: experts} for tokens, chosen, experts in given]
    merger, printer = Merger(Solver(points, made={text: tuple(s.first()[text] for s in shares) for text in shares[0].first()})), Printer()
    printer.name(merger.body(bodies))
    assert merger.unsolved == 0
    hit, rows = "hit(B*S, num_experts_per_tok, num_experts)", "routed(B*S, num_experts_per_tok, num_experts, {})"
    assert "class Act#2(0: T[?]):\n  %0: T[?] = relu($0)\n  return %0" in "\n".join(printer.out)
    assert printer.out[-1].splitlines() == [
        "class Model#1():",
        f"  %0: int64[{hit}, 1] = torch.Tensor.nonzero(%1) !data",
        f"  %2[0..{hit} - 1]: int64[1] view = unbind(%0, 0)",
        f"  %3: int64[{rows.format(0)}] = where(%2[0]) !data",
        f"  %4[0]: T[{rows.format(0)}] = call act: Act#1(0=%3)",
        "  del %3",
        f"  each i in 1..{hit} - 1:",
        f"    %5[i]: int64[{rows.format('i')}] = where(%2[i]) !data",
        "    del %4[i - 1]",
        f"    %4[i]: T[{rows.format('i')}] = call act: Act#2(0=%5[i])",
        "    del %5[i]",
        f"  del %4[{hit} - 1] %2[{hit} - 1..0] %0",
    ]


def test_the_tokens_of_experts_go_round_in_turn():
    assert Shares(7, 2, 5, ()).lengths() == (3, 3, 3, 3, 2)
    assert Shares(2, 2, 9, ()).lengths() == (1, 1, 1, 1)
    keys = {"text_config": {"n_routed_experts": 6, "num_experts_per_tok": 2}}
    assert shares_of(keys, {"B": 2, "S": 8}) == Shares(16, 2, 6, ("text_config.num_experts_per_tok", "text_config.n_routed_experts"))
    late = Shares(11, 2, 7, ("k", "n"))  # but for the first all have as many
    assert late.lengths() == (4, 3, 3, 3, 3, 3, 3)
    assert late.length((3,) * 6, 1) == "routed(B*S, k, n, i)" and late.length((3,) * 6, 0) is None
    assert late.are_of_others((3,) * 6, 0) and not late.are_of_others((3,) * 7, 0) and not late.are_of_others((5,) * 6, 0)
    assert shares_of({"num_experts": 4}, {"B": 2, "S": 8}) is None and shares_of({}, {"B": 2, "S": 8}) is None
    assert unevenly(keys, (2, 9, 1)) == (2, 10, 1) and unevenly({}, (2, 9)) == (2, 9)
    assert unlike(keys, 2) == keys and unlike({}, 2) == {}
    assert unlike({"num_experts": 4, "moe_k": 4}, 2) == {"num_experts": 5, "moe_k": 4} and unlike({"num_experts": 6, "moe_k": 2}, 3)["num_experts"] == 7


def test_what_no_sample_has_rounds_in_is_no_row_of_samples():
    assert not any(s.kind == "each" for s in in_rows(for_each_image(3), [3], [3]))


def test_several_lists_that_a_call_gives_are_a_row_each():
    def of_both(count):
        results = [made(v) for v in range(1, 2 * count + 1)]
        return [
            op("both", results, Ref(0)),
            op("cat", [made(9000)], Listed(tuple(r.ref for r in results[:count])), Number(0, False)),
            Statement("return", args=(("all", Ref(9000)), *((f"seen.{k}", r.ref) for k, r in enumerate(results[count:])))),
        ]

    assert text_of(of_both, (6, 7, 12, 14), "images") == ["class Model#1():", "  %0[0..images - 1]: T[4], %1[0..images - 1]: T[4] = both(%2)", "  %3: T[4] = cat([%0[0..images - 1]], 0)", "  return all=%3, seen=%1[0..images - 1]"]


def test_the_last_hidden_state_ahead_of_the_list_is_of_its_row():
    def of_a_tower(layers):
        results = [made(v) for v in range(1, layers + 3)]
        return [op("tower", results, Ref(0)), op("neg", [made(9000)], Ref(layers + 2)), Statement("return", args=(("", Ref(9000)),))]

    assert text_of(of_a_tower, (5, 6, 8, 7), "layers") == ["class Model#1():", "  %0[0..layers + 1]: T[4] = tower(%1)", "  %2: T[4] = neg(%0[layers + 1])", "  return %2"]


def test_tree_with_a_number_that_no_size_explains_is_refused():
    trees = [["Model", f"  buffer table: float32[{rows}]"] for rows in (22, 44, 6, 14)]
    points = [{"heads": heads} for heads in (32, 16, 96, 48)]
    with pytest.raises(Differs, match=r"buffer table: float32\[22\]: a number that is not solved"):
        merged_lines(trees, Solver(points))
