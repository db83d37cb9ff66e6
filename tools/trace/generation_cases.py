"""Calls that generate() makes around a model: questions about tokens, and one query beside a cache of keys."""

from cases import call, case

call("any_or_all")(lambda x, a: getattr(x[0], a["name"])())
call("any_in_rows")(lambda x, a: x[0].any(dim=-1))


@call("isin")
def _(inputs, args):
    import torch

    return torch.isin(inputs[0], inputs[1])


@call("attention_one_query")
def _(inputs, args):
    import torch

    q, k, v = inputs
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])


def membership_cases():
    for card in ("h200", "a10"):
        for shape in ("4", "1", "600", "4x30", "8x4096", "64x77"):
            for name in ("any", "all"):
                case("any_or_all", f"bool {shape}", card=card, name=name)
        for shape in ("4x30", "1x3", "64x77", "3x5000"):
            case("any_in_rows", f"bool {shape}", card=card)
        for elements in ("4", "1", "700"):
            for tests in ("1", "3"):
                case("isin", f"int64 {elements}", f"int64 {tests}", card=card)


def one_query_cases():
    """Heads of keys around the multiprocessors of each card, and keys around each number of parts."""
    for card in ("h200", "h100-80gb", "h20", "a100", "l4"):
        for batch, heads, groups, width in ((1, 8, 8, 64), (1, 32, 8, 128), (3, 14, 2, 64), (2, 16, 4, 256), (1, 6, 3, 192)):
            for keys in (1, 300, 512, 513, 1016, 1017, 2033, 4096, 9000):
                attend(card, batch, heads, groups, width, keys)
        for batch in (5, 11, 20, 33, 39, 40, 64, 66, 67, 132):
            attend(card, batch, 8, 1, 64, 4096)
            attend(card, batch, 8, 1, 64, 777)


def attend(card, batch, heads, groups, width, keys):
    key = f"bfloat16 {batch}x{groups}x{keys}x{width}"
    case("attention_one_query", f"bfloat16 {batch}x{heads}x1x{width} p0213", key, key, card=card)


membership_cases()
one_query_cases()
