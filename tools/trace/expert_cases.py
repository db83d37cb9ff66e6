"""Calls of the operations that mixtures of experts are made of."""

from cases import CARDS, call, case
from ops_cases import FLOATS


def _torch():
    import torch

    return torch


def _shared_among(ids, experts):
    """Ids of experts, in turn as they lie in memory."""
    ids.as_strided((ids.numel(),), (1,)).copy_(_torch().arange(ids.numel(), device="cpu").remainder(experts))
    return ids


def _ends(offsets, rows):
    """Where each group ends: equal parts."""
    groups = offsets.numel()
    return offsets.copy_(_torch().tensor([rows * (i + 1) // groups for i in range(groups)], dtype=_torch().int32))


CALLS = {
    "topk": lambda x, a: _torch().topk(x[0], a["k"], dim=-1)[a["use"]],
    "clamp": lambda x, a: x[0].clamp(0, 7),
    "fmod": lambda x, a: _torch().fmod(x[0], 4),
    "mul_": lambda x, a: x[0].mul_(x[1]),
    "div_": lambda x, a: x[0].div_(x[1]),
    "sort": lambda x, a: _torch().sort(x[0])[a["use"]],
    "histc": lambda x, a: _torch().histc(x[0], bins=a["bins"], min=0, max=a["bins"] - 1),
    "masked_fill": lambda x, a: x[0].masked_fill(x[1], 0.0),
    "masked_fill_": lambda x, a: x[0].masked_fill_(x[1], 0.0),
    "grouped_mm": lambda x, a: _torch().nn.functional.grouped_mm(x[0], x[1].transpose(-2, -1), offs=_ends(x[2], x[0].size(0))),
    "one_hot": lambda x, a: _torch().nn.functional.one_hot(_shared_among(x[0], a["classes"]), num_classes=a["classes"]),
    "index_add_": lambda x, a: x[0].index_add_(0, x[1], x[2]),
    "unique_consecutive": lambda x, a: _shared_among(x[0], a["each"]).unique_consecutive(),
    "nonzero": lambda x, a: _shared_among(x[0], a["each"]).eq_(0).nonzero(),
    "where_true": lambda x, a: _torch().where(_shared_among(x[0], a["each"]).eq_(0))[a["use"]],
    "scatter_add_": lambda x, a: x[0].scatter_add_(0, x[1], x[2]),
}
for name, function in CALLS.items():
    call(name)(function)

TOKENS = ((64, 2, 8), (300, 8, 128), (1024, 2, 4), (2048, 4, 60), (4096, 8, 64))


def routing_cases():
    for card in CARDS:
        for tokens, k, experts in TOKENS:
            for use in (0, 1):
                case("topk", f"float32 {tokens}x{experts} g", card=card, k=k, use=use)
                case("sort", f"int64 {tokens * k}", card=card, use=use)
            case("histc", f"int32 {tokens * k}", card=card, bins=experts)
            case("histc", f"int32 {tokens * k}", card=card, bins=1)
            case("one_hot", f"int64 {tokens}x{k}", card=card, classes=experts)
            case("nonzero", f"int64 {experts}", card=card, each=2)
            for dtype in ("int32", "int64"):
                case("unique_consecutive", f"{dtype} {tokens * 100}", card=card, each=1)
            for use in (0, 1):
                case("where_true", f"int64 {k}x{tokens}", card=card, each=experts, use=use)
            case("index_rows", f"float32 {tokens * k} g", f"int64 {tokens * k}", card=card)
            case("index_rows", f"bfloat16 {tokens}x64 g", f"int64 {tokens * k}", card=card)
            case("index", f"float32 {tokens}x{k} g", f"int64 {tokens}", f"int64 {tokens}", card=card, found=0)
            for dtype in ("float32", "bfloat16"):
                case("index_add_", f"{dtype} {tokens}x64 g", f"int64 {tokens // 2}", f"{dtype} {tokens // 2}x64 g", card=card)
        case("index_rows", "bfloat16 8x32x64 w", "int64 300", card=card)
    for dtype in FLOATS:
        case("topk", f"{dtype} 100x16", k=4, use=0)
    for experts in (1, 2, 256, 512):
        case("topk", f"float32 100x{experts} g", k=1, use=0)
    for count in (1, 16, 2000, 2048, 2049, 4096, 4097, 40000, 300000):
        case("sort", f"int64 {count}", use=0)
        case("index_rows", f"float32 {count} g", f"int64 {count}")
    for flags in ("gg", "g-", "-g", "--"):
        for dtype in ("float32", "bfloat16"):
            case("mul_", f"{dtype} 300x8 {flags[0]}".rstrip(" -"), f"{dtype} 300x8 {flags[1]}".rstrip(" -"))
            case("div_", f"{dtype} 300x8 {flags[0]}".rstrip(" -"), f"{dtype} 300x1 {flags[1]}".rstrip(" -"))
            case("div_", f"{dtype} 300x8 {flags[0]}".rstrip(" -"), f"float32 300x1 {flags[1]}".rstrip(" -"))
    for flag in ("g", ""):
        for dtype in FLOATS:
            for mask in ("300x1", "300x64"):
                case("masked_fill", f"{dtype} 300x64 {flag}".strip(), f"bool {mask}")
                case("masked_fill_", f"{dtype} 300x64 {flag}".strip(), f"bool {mask}")
        case("repeat_interleave", f"float32 100x64 {flag}".strip(), repeats=2, d=0)
        case("repeat_interleave", f"float32 100 {flag}".strip(), repeats=4, d=0)
        case("index_add_", f"float32 100x64 {flag}".strip(), "int64 30", "float32 30x64")
        case("index_add_", "float32 100x64", "int64 30", f"float32 30x64 {flag}".strip())
    case("where_true", "int64 4x300 p10", each=5, use=0)
    case("nonzero", "int64 4x300 p10", each=5)
    case("masked_fill", "float32 300x64 p10 g", "bool 300x1")
    case("masked_fill", "int64 300x4", "bool 300x4")
    case("clamp", "int64 300")
    case("fmod", "int64 300x4")
    for count in (300, 20000):
        case("cumsum", f"int32 {count}", d=0, dtype="int32")
    for bins in (4, 128):
        case("cumsum", f"int32 {bins}", d=0, dtype="int32")
        case("scatter_add_", f"float32 {bins}", "int64 1000", "float32 1000")


def grouped_mm_cases():
    for card in CARDS:
        if card == "t4":
            continue
        for rows, experts, width, out in ((512, 8, 64, 176), (600, 128, 64, 32), (4096, 4, 256, 128), (16, 3, 1024, 2048)):
            for dtype in FLOATS:
                for x, w in ("gw", "g-", "-w", "--"):
                    case("grouped_mm", f"{dtype} {rows}x{width} {x}".rstrip(" -"), f"{dtype} {experts}x{out}x{width} {w}".rstrip(" -"), f"int32 {experts}", card=card)
    case("grouped_mm", "bfloat16 512x64 w", "bfloat16 1023x16x64 w", "int32 1023")
    case("grouped_mm", "bfloat16 512x64 g", "bfloat16 1x16x64 w", "int32 1")
    for dtype in ("bfloat16", "float32"):
        case("grouped_mm", f"{dtype} 512x64 g", f"{dtype} 8x96x64 w", "int32 8", autocast="bfloat16")
        case("grouped_mm", f"{dtype} 512x64 g", f"{dtype} 8x96x64 w", "int32 8", gradient="10")
        case("grouped_mm", f"{dtype} 512x64 g", f"{dtype} 8x96x64 w", "int32 8", cold=True)


routing_cases()
grouped_mm_cases()
