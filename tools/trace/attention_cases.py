"""Calls of scaled_dot_product_attention."""

import random

from cases import CARDS, call, case


@call("scaled_dot_product_attention")
def _(inputs, args):
    import torch

    q, k, v, mask = inputs
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=args.get("causal", False),
                                                            dropout_p=args.get("dropout", 0.0),
                                                            enable_gqa=q.shape[1] != k.shape[1])


def attention(card, shape, dtype="bfloat16", perm=True, flags="ggg", mask=None, **options):
    b, h, k, s, t, d = shape
    order = " p0213" if perm else ""
    q = f"{dtype} {b}x{h}x{s}x{d}{order} {flags[0]}".rstrip(" -")
    key = f"{dtype} {b}x{k}x{t}x{d}{order} {flags[1]}".rstrip(" -")
    value = f"{dtype} {b}x{k}x{t}x{d}{order} {flags[2]}".rstrip(" -")
    case("scaled_dot_product_attention", q, key, value, mask, card=card, **options)


def attention_cases():
    shapes = [(2, 8, 8, 300, 300, 64), (1, 32, 4, 128, 128, 64), (2, 6, 2, 65, 65, 80), (1, 4, 1, 129, 129, 40), (1, 16, 16, 1024, 1024, 128),
              (3, 4, 4, 17, 17, 96), (1, 8, 8, 257, 257, 32), (1, 4, 4, 50, 50, 72), (1, 8, 1, 64, 64, 256), (1, 2, 2, 200, 200, 160),
              (2, 4, 4, 100, 300, 64), (2, 4, 2, 300, 100, 128), (1, 4, 4, 1, 64, 64), (1, 8, 2, 1, 1, 64), (1, 12, 4, 777, 777, 192),
              (8, 32, 32, 128, 128, 128), (1, 8, 8, 2048, 2048, 64), (2, 8, 2, 2, 1024, 128)]
    for card in CARDS:
        for i, shape in enumerate(shapes):
            for causal in (False, True):
                attention(card, shape, ["bfloat16", "float16"][i % 2], perm=(i + causal) % 3 != 0, causal=causal)
        attention(card, (2, 8, 8, 300, 300, 64), "float32", causal=True)
        attention(card, (2, 8, 8, 300, 300, 64), "float32", perm=False, causal=True)
        attention(card, (2, 1, 1, 30, 40, 128), "float32")
        attention(card, (1, 8, 2, 100, 100, 96), "float32", causal=True)
        attention(card, (1, 4, 4, 100, 100, 160), "float32")
        attention(card, (2, 8, 8, 300, 300, 64), flags="---", causal=True)
        attention(card, (2, 8, 2, 300, 300, 64), perm=False, flags="---")
        attention(card, (2, 8, 8, 300, 300, 64), "float32", flags="---")
        attention(card, (2, 8, 8, 300, 300, 64), flags="g--", causal=True)
        attention(card, (2, 8, 2, 300, 300, 64), flags="-gg", causal=True)
        attention(card, (2, 8, 8, 300, 300, 64), "float32", flags="--g", causal=True)
        for gradient in ("0123", "0213", "1203"):
            attention(card, (2, 8, 8, 300, 300, 64), gradient=gradient)
            attention(card, (2, 8, 2, 100, 100, 128), perm=False, gradient=gradient)
            attention(card, (2, 8, 8, 100, 100, 64), "float32", gradient=gradient)
        for dtype in ("bfloat16", "float16", "float32"):
            for mask in ("bool 2x1x1x100", f"{dtype} 2x1x100x100", "bool 2x8x100x100", f"{dtype} 2x1x1x100 x2x1x100x100", "bool 100x100",
                         "bool 1x1x1x100 x2x1x100x100"):
                attention(card, (2, 8, 8, 100, 100, 64), dtype, mask=mask)
            attention(card, (2, 8, 2, 64, 64, 64), dtype, mask="bool 2x1x64x64")
            attention(card, (2, 8, 8, 64, 64, 64), dtype, perm=False, flags="---", mask=f"{dtype} 2x1x64x64")
        attention(card, (2, 8, 8, 100, 100, 64), "float32", mask="float32 2x1x100x100", autocast="bfloat16")
        attention(card, (2, 8, 8, 100, 100, 64), "float32", causal=True, autocast="bfloat16")
        for dropout in (0.1, 0.25):
            for dtype in ("bfloat16", "float32"):
                attention(card, (2, 8, 8, 100, 100, 64), dtype, dropout=dropout)
                attention(card, (2, 8, 8, 100, 100, 96), dtype, dropout=dropout, causal=True)
                attention(card, (1, 4, 2, 200, 200, 128), dtype, dropout=dropout, perm=False, flags="g--")
                attention(card, (2, 4, 4, 65, 65, 160), dtype, dropout=dropout, mask="bool 2x1x1x65")
                attention(card, (1, 2, 2, 300, 300, 64), dtype, dropout=dropout, flags="---")
                attention(card, (1, 2, 2, 300, 300, 256), dtype, dropout=dropout)
        attention(card, (2, 8, 8, 100, 100, 64), "float32", flags="www", causal=True, autocast="float16")
        odd_heads(card)


def odd_heads(card):
    """Sizes of heads that 8 does not divide."""
    for i, shape in enumerate([(2, 8, 8, 100, 100, 20), (1, 6, 2, 300, 300, 76), (2, 4, 4, 65, 65, 100), (1, 4, 1, 130, 130, 250), (1, 8, 8, 1, 64, 12)]):
        for causal in (False, True):
            attention(card, shape, ["bfloat16", "float16"][i % 2], perm=(i + causal) % 2 == 0, causal=causal)
        attention(card, shape, "float32")
    for flags in ("---", "g--", "-gg"):
        attention(card, (2, 8, 8, 100, 100, 20), flags=flags, causal=True)
    for gradient in ("0123", "0213", "1203"):
        attention(card, (2, 8, 2, 100, 100, 36), gradient=gradient)
    attention(card, (2, 8, 8, 100, 100, 20), dropout=0.1)
    attention(card, (2, 8, 8, 100, 100, 20), mask="bool 2x1x1x100")
    attention(card, (2, 8, 8, 100, 100, 20), "float32", causal=True, autocast="bfloat16")


def random_attention(count, seed):
    """Shapes at random, on every card; small enough that the calls on any card fit."""
    draw = random.Random(seed)
    for _ in range(count):
        heads = draw.choice([1, 2, 3, 4, 6, 7, 8, 12, 14, 16, 20, 24, 25, 28, 32, 40, 64])
        groups = draw.choice([n for n in range(1, heads + 1) if heads % n == 0]) if draw.random() < 0.4 else heads
        queries = draw.choice([draw.randint(1, 300), draw.randint(1, 4096), 64 * draw.randint(1, 64)])
        keys = draw.choice([queries, queries, queries, draw.randint(1, 1024)])
        batch = draw.choice([1, 2, 3, 4, 5, 8, 16, 33, 64])
        if batch * heads * queries * keys > 1 << 28:
            continue
        shape = (batch, heads, groups, queries, keys, draw.choice([8, 8, 4, 2]) * draw.randint(1, 32))
        dtype = draw.choice(["bfloat16", "bfloat16", "float16", "float32"])
        mask = None
        if draw.random() < 0.25:
            mask = draw.choice(["bool", dtype]) + " " + "x".join(map(str, (draw.choice([1, batch]), draw.choice([1, heads]), draw.choice([1, queries]), keys)))
        attention(draw.choice(CARDS), shape, dtype, perm=draw.random() < 0.6, flags=draw.choice(["ggg", "ggg", "---", "g--", "-gg"]), mask=mask,
                  causal=not mask and draw.random() < 0.5, gradient=draw.choice([None, "0123", "0213"]))


attention_cases()
