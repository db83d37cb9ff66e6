"""Numbers of several captures as expressions of what the captures were made of."""

import math
import random

import pytest
from tidemark.capture.sizes import Solver

NAMES = ("B", "S", "hidden", "heads", "head_dim", "ffn", "image", "patch")


def points(count, seed):
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        heads, patch = draw.choice((2, 4, 6, 8)), draw.choice((4, 8, 14))
        made.append(
            {
                "B": draw.randrange(2, 12),
                "S": draw.randrange(40, 400),
                "heads": heads,
                "hidden": heads * 8 * draw.randrange(2, 9),
                "head_dim": 2 * draw.randrange(4, 40),
                "ffn": draw.randrange(60, 900),
                "image": patch * draw.randrange(2, 9),
                "patch": patch,
            }
        )
    return made


def value(text, point):
    return eval(text, {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}, point)


@pytest.mark.parametrize(
    "wanted",
    [
        "B*S",
        "hidden//heads",
        "2*head_dim*heads",
        "head_dim//2",
        "S + 1",
        "-head_dim",
        "hidden + 2*heads*head_dim",
        "B*heads*S",
        "(image//patch)*(image//patch)",
        "(image//patch)*(image//patch) + 1",
        "B*((image//patch)*(image//patch) + 1)",
        "ceildiv(S, 64)",
        "-S % 64",
        "B*ceildiv(S, 64)",
        "S % head_dim",
        "min(S, ffn)",
        "max(0, ffn - S)",
        "ffn + heads + head_dim",
        "(image//patch)*(image//patch) + heads + 1",
        "64*S",
        "hidden//2 - heads",
        "17",
        "S - image*patch//4 - 1",
        "heads*ceildiv(2*ffn//3, heads)",
        "ceildiv(2*ffn//3, head_dim)*head_dim",
        "image*patch//4 + B - 2",
        "6404*B",
        "161280//heads",
    ],
)
def test_what_is_found_holds_at_points_that_were_not_seen(wanted):
    seen, later = points(7, 1), points(20, 2)
    found = Solver(seen)(tuple(value(wanted, p) for p in seen))
    assert found is not None
    assert [value(found, p) for p in later] == [value(wanted, p) for p in later], found


def test_what_follows_no_name_is_not_solved():
    draw = random.Random(3)
    assert Solver(points(7, 1))(tuple(draw.randrange(1, 10**6) for _ in range(7))) is None


def test_two_points_are_any_expressions():
    assert Solver(points(2, 1))((3, 5)) is None
    assert Solver(points(2, 1))((4, 4)) == "4"


def test_the_simplest_is_chosen():
    seen = points(7, 4)
    solve = Solver(seen)
    assert solve(tuple(p["hidden"] for p in seen)) == "hidden"
    assert solve(tuple(p["hidden"] * 3 for p in seen)) == "3*hidden"
    assert solve(tuple(math.prod((p["B"], p["S"], p["hidden"])) for p in seen)) == "B*S*hidden"


def test_names_that_are_always_equal_are_one():
    seen = [{**p, "width": p["hidden"]} for p in points(7, 1)]
    assert Solver(seen)(tuple(p["width"] for p in seen)) == "hidden"


def test_numbers_of_layers_are_divided_by_the_period_of_their_kinds():
    seen = [{"layers": n, "B": b} for n, b in zip((13, 16, 13, 16, 16, 13), (2, 3, 5, 4, 7, 6))]  # ceildiv(layers, 2) - 4 at these
    found = Solver(seen, [3])(tuple(p["layers"] // 3 - 1 for p in seen))
    assert [value(found, {"layers": n}) for n in (7, 10, 22, 40)] == [1, 2, 6, 12], found


def test_a_product_may_be_divided_by_a_name_that_divides_none_of_its_factors():
    seen = [{"rows": r, "width": w, "inner": i, "B": b} for r, w, i, b in ((6, 4, 8, 2), (10, 9, 15, 3), (4, 21, 6, 5), (15, 8, 20, 4), (9, 14, 21, 7), (12, 25, 10, 6))]
    found = Solver(seen)(tuple(p["B"] * p["rows"] * p["width"] // p["inner"] for p in seen))
    assert value(found, {"rows": 8, "width": 21, "inner": 14, "B": 3}) == 36, found


def test_patches_that_are_merged():
    draw, seen = random.Random(5), []
    for point in points(14, 5):
        merge = draw.choice((2, 3, 4))
        seen.append({**point, "merge": merge, "image": point["patch"] * draw.randrange(merge, 20)})
    for wanted in ("(image//patch)//merge", "((image//patch)//merge)*((image//patch)//merge)", "B*hidden*((image//patch)//merge)*((image//patch)//merge)"):
        found = Solver(seen[:7])(tuple(value(wanted, p) for p in seen[:7]))
        assert found is not None and [value(found, p) for p in seen] == [value(wanted, p) for p in seen], found


def test_products_of_four_are_names_and_a_product():
    seen, later = points(7, 1), points(20, 2)
    found = Solver(seen)(tuple(p["B"] * p["hidden"] * (p["image"] // p["patch"]) ** 2 for p in seen))
    assert [value(found, p) for p in later] == [p["B"] * p["hidden"] * (p["image"] // p["patch"]) ** 2 for p in later], found


def test_a_quotient_of_two_names_is_no_sum_that_happens_to_be_it():
    points = [{"text.heads": h, "text.keys": k, "merge": m} for h, k, m in ((16, 2, 2), (32, 8, 4), (24, 3, 2), (48, 12, 4), (64, 8, 2), (12, 3, 4))]
    assert Solver(points)(tuple(p["text.heads"] // p["text.keys"] for p in points)) == "text.heads//text.keys"  # as -2*merge + 12 is


def windowed_points():
    """Images of several windows each, beside keys of a configuration."""
    draw = random.Random(3)
    made = []
    for samples, each, down, across in ((7, 8, 12, 20), (8, 7, 10, 12), (9, 7, 16, 20), (7, 9, 12, 24), (8, 8, 18, 28), (10, 7, 8, 20)):
        made.append({"B": samples, "images": samples * each, "grid_h": down, "grid_w": across, "S": draw.randrange(1000, 9000), **{f"key{n}": draw.randrange(40, 900) for n in range(10)}})
    return made


@pytest.mark.parametrize(
    "wanted",
    [
        "S - images//B - (images//B)*grid_h*grid_w//4",
        "images*ceildiv(grid_h, 8)*ceildiv(grid_w, 8) - 1",
        "images*ceildiv(grid_h, 8)*ceildiv(grid_w, 8) + 1",
        "16*(grid_h//8 + 1)*(grid_w//8 + 1)",
        "(grid_h//8 + 1)",
        "images*(grid_h//8 + 1)*(grid_w//8 + 1) + 1",
        "4 - (grid_w % 8)//2",
    ],
)
def test_what_images_take_of_a_text_and_how_many_windows_they_have_is_found(wanted):
    seen = windowed_points()
    made = {}
    for side in ("grid_h", "grid_w"):
        made |= {text: tuple(value(text, p) for p in seen) for text in (f"ceildiv({side}, 8)", f"({side}//8 + 1)", f"({side} % 8)")}
    found = Solver(seen, made=made)(tuple(value(wanted, p) for p in seen))
    for side, other in ((20, 36), (8, 10), (14, 30)):
        unseen = {**seen[0], "B": 5, "images": 60, "grid_h": side, "grid_w": other, "S": 5001}
        assert value(found, unseen) == value(wanted, unseen), found


def test_what_fills_a_chunk_is_of_the_size_that_is_called_so():
    """Of 32 tokens, or twice or four times as many: of 32 what is left may be the same at every point."""
    points = [{"S": tokens, "chunk_size": size} for tokens, size in ((97, 32), (226, 128), (355, 32), (612, 128), (37, 32), (998, 128))]
    assert len({(-p["S"] % 32, -p["S"] % p["chunk_size"]) for p in points}) == len({-p["S"] % 32 for p in points}) == 6
    assert Solver(points)(tuple(-p["S"] % p["chunk_size"] for p in points)) == "-S % chunk_size"


def test_what_a_state_space_projects_at_once_is_found():
    """Two products and a name, none of which is a key by itself, behind many other names."""
    wanted, others, drawer = "2*heads*size + 2*state*groups + heads", [f"other{k}" for k in range(14)], random.Random(5)
    points = [
        {**{name: drawer.randrange(2, 700) for name in others}, **dict(zip(("heads", "size", "state", "groups"), numbers))} for numbers in ((8, 16, 16, 1), (24, 32, 48, 3), (48, 16, 32, 2), (16, 48, 80, 1), (32, 16, 64, 2), (96, 32, 16, 3))
    ]
    found = Solver(points)(tuple(value(wanted, p) for p in points))
    unseen = {**dict.fromkeys(others, 7), "heads": 128, "size": 64, "state": 128, "groups": 8}
    assert value(found, unseen) == value(wanted, unseen), found


def heard_points():
    """Sounds of which captures tell where a frame begins and where it ends, beside keys of a configuration."""
    letters = (96, 149, 203, 307, 251, 181)
    return [{"B": samples, "S": 400 + 320 * (3 * count - 1) - (count % 2 == 0), "hidden": hidden} for samples, count, hidden in zip((2, 3, 5, 4, 7, 6), letters, (256, 192, 576, 576, 384, 384))]


@pytest.mark.parametrize("wanted", ["(S - 5)//5", "(S - 80)//160", "(S - 80)//320", "(S + 240)//320"])
def test_frames_of_a_sound_are_steps_from_some_place_on(wanted):
    seen = heard_points()
    found = Solver(seen)(tuple(value(wanted, p) for p in seen))
    assert [value(found, {"S": samples}) for samples in range(5000, 7000)] == [value(wanted, {"S": samples}) for samples in range(5000, 7000)], found


def test_frames_whose_beginning_no_point_tells_are_not_solved():
    seen = [{**p, "S": p["S"] + 7} for p in heard_points()]
    assert Solver(seen)(tuple(value("(S - 80)//320", p) for p in seen)) is None


def test_elements_in_rows_of_another_width_are_a_name_and_a_quotient():
    seen = [
        {"images": i, "places": p, "width": w, "inner": n, "text": t}
        for i, p, w, n, t in ((6, 360, 384, 256, 384), (6, 256, 384, 256, 384), (5, 312, 1152, 768, 384), (12, 432, 128, 256, 128), (14, 96, 128, 1024, 128), (6, 312, 128, 1024, 384))
    ]
    unseen = {"images": 3, "places": 1500, "width": 1280, "inner": 5120, "text": 3072}
    wanted = "text*((images*places*width)//inner)"
    assert value(Solver(seen)(tuple(value(wanted, p) for p in seen)), unseen) == value(wanted, unseen)


def test_a_product_of_four_is_found_before_a_sum_that_holds_by_chance():
    shapes = ((2, 9, 12, 24, 2), (3, 6, 9, 16, 4), (4, 9, 6, 72, 6), (5, 6, 15, 32, 8), (2, 9, 3, 96, 8))
    seen = [dict(zip(("images", "grid_h", "grid_w", "hidden", "heads"), shape)) for shape in shapes]  # 7*images*grid_w*hidden//6 - 2*images*grid_w*heads at these
    found = Solver(seen)(tuple(p["images"] * p["grid_h"] * p["grid_w"] * p["hidden"] // 9 for p in seen))
    assert value(found, {"images": 1, "grid_h": 12, "grid_w": 12, "hidden": 64, "heads": 4}) == 1024, found


def test_a_name_is_found_where_another_is_a_multiple_of_it():
    counts = ((8, 2), (16, 4), (24, 2), (32, 4), (16, 2))
    seen = [{"hidden": 128 * heads, "of_keys": few, "heads": heads, "channels": 3 * heads // (4 * few)} for heads, few in counts]
    assert Solver(seen)(tuple(p["heads"] for p in seen)) == "heads"
    assert Solver(seen)(tuple(2 * p["hidden"] for p in seen)) == "2*hidden"


def test_rounds_of_layers_are_found_before_other_sums():
    counts = ((16, 32, 8), (20, 80, 24), (16, 32, 4), (20, 80, 8), (20, 80, 12), (16, 32, 24))
    seen = [{"num_hidden_layers": layers, "head_dim": size, "ffn": wide} for layers, size, wide in counts]
    rounds = tuple(p["num_hidden_layers"] // 4 - 1 for p in seen)
    assert Solver(seen, [4])(rounds) == "num_hidden_layers//4 - 1"
    assert Solver(seen)(rounds) != "num_hidden_layers//4 - 1"
