"""Calls of every operation but attention."""

import random

from cases import CARDS, call, case

HALF = ("bfloat16", "float16")
FLOATS = ("bfloat16", "float16", "float32")


def _torch():
    import torch

    return torch


def _functional():
    return _torch().nn.functional


def _index(x, d, what):
    return x[(slice(None),) * (d % x.dim()) + (what,)]


def _filled(mask, found):
    """The mask, true in as many places."""
    mask.zero_()[:found].fill_(True)
    return mask


def _repeated(x, args):
    if len(x) == 1:
        return x[0].repeat_interleave(args["repeats"], dim=args["d"])
    return x[0].repeat_interleave(x[1].fill_(args["each"]))


# How PyTorch is called.
UNARY = {
    "contiguous": lambda x: x.contiguous(),
    "clone": lambda x: x.clone(memory_format=_torch().contiguous_format),
    "detach": lambda x: x.detach(),
    "add_scalar": lambda x: x + 1,
    "mul_scalar": lambda x: x * 2,
    "div_scalar": lambda x: x / 2,
    "neg": lambda x: -x,
    "pow2": lambda x: x.pow(2),
    "pow3": lambda x: x.pow(3),
    "exp": lambda x: x.exp(),
    "rsqrt": lambda x: _torch().rsqrt(x),
    "cos": lambda x: x.cos(),
    "sin": lambda x: x.sin(),
    "tanh": lambda x: _torch().tanh(x),
    "sigmoid": lambda x: _torch().sigmoid(x),
    "compare": lambda x: x == 0,
    "silu": lambda x: _functional().silu(x),
    "gelu": lambda x: _functional().gelu(x),
    "relu": lambda x: _functional().relu(x),
    "log_sigmoid": lambda x: _functional().logsigmoid(x),
}
for name, function in UNARY.items():
    CALL = call(name)
    CALL(lambda inputs, args, function=function: function(inputs[0]))

OTHERS = {
    "view": lambda x, a: x[0].view(a["sizes"]),
    "reshape": lambda x, a: x[0].reshape(a["sizes"]),
    "transpose": lambda x, a: x[0].transpose(a["a"], a["b"]),
    "permute": lambda x, a: x[0].permute(a["order"]),
    "unsqueeze": lambda x, a: x[0].unsqueeze(a["d"]),
    "squeeze": lambda x, a: x[0].squeeze(a["d"]),
    "expand": lambda x, a: x[0].expand(a["sizes"]),
    "slice": lambda x, a: _index(x[0], a["d"], slice(a["start"], a["end"])),
    "slice_step": lambda x, a: x[0][..., a["start"]::a["step"]],
    "select": lambda x, a: _index(x[0], a["d"], a["index"]),
    "split": lambda x, a: x[0].split(a["piece"], a["d"])[a["use"]],
    "split_sizes": lambda x, a: x[0].split(a["pieces"], a["d"])[a["use"]],
    "chunk": lambda x, a: x[0].chunk(a["parts"], a["d"])[a["use"]],
    "to": lambda x, a: x[0].to(getattr(_torch(), a["dtype"])),
    "cat": lambda x, a: _torch().cat(x, a["d"]),
    "stack": lambda x, a: _torch().stack(x, a["d"]),
    "repeat_interleave": lambda x, a: _repeated(x, a),
    "pad": lambda x, a: _functional().pad(x[0], a["pad"]),
    "add": lambda x, a: x[0] + x[1],
    "sub": lambda x, a: x[0] - x[1],
    "mul": lambda x, a: x[0] * x[1],
    "div": lambda x, a: x[0] / x[1],
    "add_": lambda x, a: x[0].add_(x[1]),
    "sub_scalar": lambda x, a: x[0] - 2,
    "floor_divide": lambda x, a: x[0] // 2,
    "max": lambda x, a: x[0].max(),
    "prod": lambda x, a: x[0].prod(a["d"], keepdim=a.get("keep", False)),
    "pow_tensor": lambda x, a: _torch().pow(x[0], x[1]),
    "where": lambda x, a: _torch().where(x[0], x[1], x[2]),
    "logical": lambda x, a: x[0] & x[1],
    "bitwise": lambda x, a: getattr(_torch(), "bitwise_" + a["kind"])(x[0], *x[1:] or [3]),
    "arange": lambda x, a: _torch().arange(a["end"], device="cuda"),
    "eye": lambda x, a: _torch().eye(a["n"], dtype=getattr(_torch(), a["dtype"]), device="cuda"),
    "full": lambda x, a: _torch().full(a["sizes"], 2, dtype=getattr(_torch(), a["dtype"]), device="cuda"),
    "zeros": lambda x, a: _torch().zeros(a["sizes"], dtype=getattr(_torch(), a["dtype"]), device="cuda"),
    "to_device": lambda x, a: _torch().zeros(a["sizes"], dtype=getattr(_torch(), a["dtype"])).to("cuda"),
    "argmax": lambda x, a: x[0].argmax(-1),
    "argmin": lambda x, a: x[0].argmin(-1),
    "cdist": lambda x, a: _torch().cdist(x[0], x[1]),
    "index_rows": lambda x, a: x[0][x[1]],
    "cumsum": lambda x, a: x[0].cumsum(a["d"], dtype=getattr(_torch(), a["dtype"]) if "dtype" in a else None),
    "gather": lambda x, a: x[0].gather(a["d"], x[1].zero_()),
    "unbind": lambda x, a: x[0].unbind(a["d"])[a["use"]],
    "masked_scatter": lambda x, a: x[0].masked_scatter(x[1].fill_(True).expand_as(x[0]), x[2]),
    "count_true": lambda x, a: x[0].sum(),
    "index_mask": lambda x, a: x[0][_filled(x[1], a["found"])],
    "linalg_vector_norm": lambda x, a: _torch().linalg.vector_norm(x[0], 2, a["dims"], keepdim=a["keep"]),
    "softmax": lambda x, a: _functional().softmax(x[0], dim=-1, dtype=getattr(_torch(), a["dtype"])),
    "dropout": lambda x, a: _functional().dropout(x[0], a["p"]),
    "mean": lambda x, a: x[0].mean(a["dims"], keepdim=a["keep"]),
    "nansum": lambda x, a: x[0].nansum(),
    "nanmean": lambda x, a: x[0].nanmean(),
    "sum": lambda x, a: x[0].sum(a["dims"], keepdim=a["keep"]) if a["dims"] else x[0].sum(),
    "matmul": lambda x, a: _torch().matmul(x[0], x[1]),
    "linear": lambda x, a: _functional().linear(x[0], x[1], x[2]).add_(x[3]) if x[3:] else _functional().linear(x[0], x[1], x[2]),
    "addmm": lambda x, a: _torch().addmm(x[0], x[1], x[2]),
    "mm": lambda x, a: _torch().mm(x[0], x[1]),
    "bmm": lambda x, a: _torch().bmm(x[0], x[1]),
    "baddbmm": lambda x, a: x[0].baddbmm(batch1=x[1], batch2=x[2], beta=1.0, alpha=a["alpha"]),
    "layer_norm": lambda x, a: _functional().layer_norm(x[0], x[0].shape[-1:], x[1], x[2]),
    "rms_norm": lambda x, a: _functional().rms_norm(x[0], x[0].shape[-1:], x[1]),
    "embedding_bag": lambda x, a: _functional().embedding_bag(x[0], x[1], per_sample_weights=x[2], mode="sum"),
    "embedding": lambda x, a: _functional().embedding(x[0], x[1]),
    "cross_entropy": lambda x, a: _functional().cross_entropy(x[0], x[1]),
}
for name, function in OTHERS.items():
    call(name)(function)


def layouts_of(name, dtypes, **args):
    """An operation on one tensor, with and without a gradient: plain, transposed, expanded."""
    for dtype in dtypes:
        for flag in ("g", ""):
            case(name, f"{dtype} 2x300x64 {flag}".strip(), **args)
    case(name, "float32 2x300x64 p021 g", **args)
    case(name, "bfloat16 2x4x30x64 p0213 g", **args)
    case(name, "bfloat16 2x4x30x64 p0213 g", gradient="0123", **args)
    case(name, "bfloat16 2x4x30x64 g", gradient="0213", **args)
    case(name, "float32 2x1x64 x2x30x64 g", **args)


def unary_cases():
    for name in UNARY:
        layouts_of(name, FLOATS)
        case(name, "float32 2x1x64 x2x30x64")
        case(name, "float32 scalar g")
        for dtype in ("float32", "bfloat16"):
            for autocast in HALF:
                case(name, f"{dtype} 2x30x64 g", autocast=autocast)
    for name in ("cos", "sin", "compare", "neg"):
        case(name, "int64 4x100" if name in ("compare", "neg") else "float32 4x100")


def view_cases():
    for dtype, flag in (("bfloat16", "g"), ("float32", "")):
        x = f"{dtype} 4x30x64 {flag}".strip()
        permuted = f"{dtype} 4x30x8x16 p0213 {flag}".strip()
        for sizes in ([4, 30, 8, 8], [120, 64], [-1], [4, 1, 30, 64]):
            case("view", x, sizes=sizes)
            case("reshape", x, sizes=sizes)
        case("view", x, sizes=[120, 64], gradient="10")
        case("reshape", permuted, sizes=[4, 30, -1])
        case("reshape", permuted, sizes=[120, 128], gradient="10")
        case("reshape", permuted, sizes=[4, 30, 2, 4, 16], gradient="02134")
        for a, b in ((1, 2), (0, 1), (-1, -2)):
            case("transpose", x, a=a, b=b)
            case("transpose", permuted, a=a, b=b, gradient="0123")
        case("permute", x, order=[2, 0, 1])
        case("permute", permuted, order=[0, 2, 3, 1])
        for d in (0, 1, 3, -1):
            case("unsqueeze", x, d=d)
        case("squeeze", f"{dtype} 4x1x64 {flag}".strip(), d=1)
        case("squeeze", f"{dtype} 4x3x64 {flag}".strip(), d=1)
        for sizes in ([4, 30, 64], [-1, 30, 64], [2, 4, 30, 64]):
            case("expand", f"{dtype} 1x30x64 {flag}".strip() if len(sizes) == 3 else f"{dtype} 4x1x64 {flag}".strip(), sizes=sizes)
        for d, start, end in ((-1, 0, 32), (-1, 32, 64), (1, 3, 9), (0, 0, 4), (0, 1, 2), (1, 0, 30)):
            case("slice", x, d=d, start=start, end=end)
        case("slice", permuted, d=-1, start=0, end=8)
        case("slice", permuted, d=1, start=0, end=8)
        for y in (x, permuted):
            for start, step in ((0, 2), (1, 2), (0, 3), (2, 5)):
                case("slice_step", y, start=start, step=step)
        case("slice_step", permuted, start=1, step=2, gradient="0123")
        for d, index in ((0, 0), (1, 7), (2, 3)):
            case("select", x, d=d, index=index)
        for piece, d in ((16, -1), (7, 1), (2, 0), (64, 2)):
            for use in (0, -1):
                case("split", x, piece=piece, d=d, use=use)
        case("split", permuted, piece=5, d=1, use=0)
        for pieces, d in (([16, 24, 24], -1), ([7, 1, 22], 1), ([4], 0), ([0, 4], 0)):
            for use in (0, -1):
                case("split_sizes", x, pieces=pieces, d=d, use=use)
        for parts, d in ((2, -1), (3, 2), (4, 0)):
            case("chunk", x, parts=parts, d=d, use=0)
    case("split_sizes", "bfloat16 2x3x4x5 g", pieces=[5], d=-1, use=0, gradient="0231")   # channels last


def copy_cases():
    for dtype in ("bfloat16", "float32", "float16"):
        for other in ("bfloat16", "float32", "float16", "int64", "bool"):
            case("to", f"{dtype} 4x30x64 g", dtype=other)
            case("to", f"{dtype} 4x30x8x16 p0213 g", dtype=other, **({"gradient": "0123"} if other[0] in "bf" and other != "bool" else {}))
            case("to", f"{dtype} 1x30x64 x4x30x64", dtype=other)
    for dtype in ("int64", "bool"):
        for other in ("int64", "bool", "float32"):
            case("to", f"{dtype} 4x30", dtype=other)
    for d in (0, 1, -1):
        case("cat", "bfloat16 4x30x64 g", "bfloat16 4x30x64 g", d=d)
        case("cat", "bfloat16 4x30x64 g", "bfloat16 4x30x64", d=d)
        case("cat", "float32 4x30x64 p021", "float32 4x30x64 g", "float32 4x30x64 g", d=d)
        case("cat", "bfloat16 4x30x8x16 p0213 g", "bfloat16 4x30x8x16 p0213 g", d=d)
        case("cat", "bfloat16 4x30x8x16 p0231 g", "bfloat16 4x30x8x16 p0231 g", d=d)   # channels last
        case("cat", "bfloat16 4x30x8x16 p0231 g", "bfloat16 4x30x8x16 g", d=d)
        case("cat", "bfloat16 2x3x4x5x6 p02341 g", "bfloat16 2x3x4x5x6 p02341 g", d=d)
    case("cat", "bfloat16 4x1x8x1 p0231 g", "bfloat16 4x1x8x1 g", d=3)
    case("cat", "bfloat16 4x30x64 g", "float32 4x30x64 g", d=1)
    case("cat", "bfloat16 4x1x64 g", "bfloat16 4x576x64 g", d=1)
    case("cat", "float32 4x30x64 g", d=1)
    case("cat", "float32 4x30x64 g", "bfloat16 4x30x64 g", d=1, autocast="bfloat16")
    for d in (0, 1, -1):
        case("stack", "bfloat16 4x30x64 g", "bfloat16 4x30x64 g", d=d)
        case("stack", "float32 4x30x64 p021 g", "float32 4x30x64", "float32 4x30x64 g", d=d)
        case("stack", "int64 30x64", "int64 30x1 x30x64", "int64 1x64 x30x64", d=d)
    case("stack", "int64 100", "int64 100", d=-1)
    case("stack", "float32 scalar g", "float32 scalar g", d=0)
    for dtype in FLOATS:
        for n in (1, 2, 64):
            case("repeat", f"{dtype} 1x1x768 g", times=[n, 1, 1])
            case("repeat", f"{dtype} 1x5x64 w", times=[n, 1, 1])
    case("repeat", "bfloat16 1x1x768", times=[8, 1, 1])
    case("repeat", "bfloat16 1x1x768 g", times=[8, 1, 1], autocast="bfloat16")
    for widths in ([0, 1], [2, 0], [0, 0]):
        case("pad", "int64 4x30", pad=widths)
        case("pad", "float32 4x30", pad=widths)
        case("pad", "bfloat16 4x30x20 g", pad=widths)
        case("pad", "bfloat16 2x4x30x20 p0213 g", pad=widths)
        case("pad", "float32 2x30x4x20 p0231 g", pad=widths)   # as channels that are last
        case("pad", "bfloat16 2x4x30x20 p0213 g", pad=widths, gradient="0213")


def binary_cases():
    pairs = [("2x300x64", "2x300x64"), ("2x300x64", "64"), ("64", "2x300x64"), ("2x4x30x16", "2x1x30x16"), ("2x300x64", "2x300x1"), ("2x300x64", "scalar"),
             ("scalar", "2x300x64"), ("scalar", "scalar"), ("4x1x64", "1x30x64"), ("2x300x1", "2x300x1")]
    for name in ("add", "sub", "mul", "div"):
        for first, second in pairs:
            for dtype in ("float32", "bfloat16"):
                for flags in ("gg", "g-", "-g", "--"):
                    if dtype == "bfloat16" and flags != "gg":
                        continue
                    case(name, f"{dtype} {first} {flags[0]}".rstrip(" -"), f"{dtype} {second} {flags[1]}".rstrip(" -"))
        case(name, "bfloat16 2x300x64 g", "float32 2x300x64 g")
        case(name, "bfloat16 2x300x64 g", "float32 64 g")
        case(name, "float32 2x300x64 g", "bfloat16 2x300x64 g")
        case(name, "bfloat16 2x300x64 g", "float32 scalar g")
        case(name, "float32 scalar g", "bfloat16 2x300x64 g")
        case(name, "bfloat16 2x4x30x64 p0213 g", "bfloat16 2x4x30x64 p0213 g")
        case(name, "bfloat16 2x4x30x64 p0213 g", "bfloat16 2x4x30x64 g")
        case(name, "bfloat16 2x4x30x64 g", "bfloat16 2x4x30x64 p0213 g")
        case(name, "bfloat16 2x4x30x64 p0213 g", "bfloat16 2x1x30x64 g")
        case(name, "bfloat16 2x4x30x64 p0213 g", "bfloat16 2x1x30x64")
        case(name, "bfloat16 2x4x30x64 p0213 g", "bfloat16 2x4x30x64 p0213 g", gradient="0123")
        case(name, "int64 4x30", "int64 4x30")
        case(name, "float32 2x300x64 g", "bfloat16 2x300x64 g", autocast="bfloat16")


def activation_cases():
    for dtype in FLOATS:
        for flag in ("g", ""):
            for result in ("float32", dtype):
                case("softmax", f"{dtype} 2x4x30x64 {flag}".strip(), dtype=result)
            case("dropout", f"{dtype} 2x300x64 {flag}".strip(), p=0.1)
    case("softmax", "bfloat16 2x4x30x64 p0213 g", dtype="float32")
    case("softmax", "float32 2x4x30x64 p0213 g", dtype="float32")
    case("softmax", "float32 2x4x30x64 g", dtype="float32", gradient="0213")
    case("softmax", "bfloat16 8x2048 g", dtype="float32")
    for dtype in ("float32", "bfloat16"):
        case("softmax", f"{dtype} 2x4x30x64 g", dtype="float32", autocast="bfloat16")
    case("dropout", "bfloat16 2x4x30x64 p0213 g", p=0.1)
    case("dropout", "bfloat16 2x4x30x64 g", p=0.1, gradient="0213")
    case("dropout", "float32 2x300x64 g", p=0.0)
    case("dropout", "float32 2x300x64 g", p=0.1, autocast="bfloat16")


def reduction_cases():
    shapes = ["4x128", "2x300x64", "2x300x2048", "64x4096", "1x4096", "8x128x1024", "1x16384", "3x777x80", "2x4x30x64", "512x512", "4096x64", "100000", "20000x8",
              "16x32000", "30x50000"]
    for card in CARDS:
        for i, shape in enumerate(shapes):
            dims = shape.count("x") + 1
            for d in range(-dims, 0):
                dtype = FLOATS[(i + d) % 3]
                case("mean", f"{dtype} {shape} g", card=card, dims=[d], keep=d == -1)
                case("sum", f"{dtype} {shape} g", card=card, dims=[d], keep=d != -1)
            case("sum", f"float32 {shape} g", card=card, dims=[], keep=False)
            case("sum", f"bfloat16 {shape}", card=card, dims=[], keep=False)
            if dims > 2:
                case("sum", f"bfloat16 {shape} g", card=card, dims=[0, 1], keep=False)
                case("sum", f"float32 {shape} g", card=card, dims=[0, 2], keep=True)
    for shape, order in (("8x128x1024", "021"), ("8x128x1024", "201"), ("2x4x300x64", "0213"), ("512x4096", "10")):
        for d in (0, 1, -1):
            case("mean", f"float32 {shape} p{order} g", dims=[d], keep=True)
            case("sum", f"bfloat16 {shape} p{order} g", dims=[d], keep=False)
    for card in CARDS:
        for shape in ("8x512", "4x30x64", "64x768", "2x70000", "512x512"):
            for dtype in FLOATS:
                case("linalg_vector_norm", f"{dtype} {shape} g", card=card, dims=[-1], keep=True)
    case("linalg_vector_norm", "float32 64x768", dims=[-1], keep=True)
    case("linalg_vector_norm", "float32 64x4x768 p102 g", dims=[-1], keep=True)
    for dtype in ("float32", "bfloat16"):
        case("linalg_vector_norm", f"{dtype} 64x768 g", autocast="bfloat16", dims=[-1], keep=True)
    case("sum", "bool 8x1024", dims=[], keep=False)
    case("sum", "int64 8x1024", dims=[], keep=False)
    case("sum", "bool 8x1024", dims=[-1], keep=False)
    case("mean", "bfloat16 2x300x64 g", dims=[-1], keep=True, autocast="bfloat16")
    case("sum", "bfloat16 2x300x64 g", dims=[-1], keep=True, autocast="bfloat16")


def matmul_cases():
    for card in CARDS:
        case("mm", "bfloat16 64x32 g", "bfloat16 32x48 g", card=card, cold=True)
        case("linear", "bfloat16 64x32 g", "bfloat16 48x32 w", "bfloat16 48 w", card=card, cold=True)
        case("linear", "float32 64x32 g", "float32 48x32 w", "float32 48 w", card=card, cold=True)
        case("linear", "bfloat16 2x64x32 g", "bfloat16 48x32 w", None, card=card, cold=True)
    for dtype in ("bfloat16", "float32"):
        for flags in ("gg", "g-", "-g", "--"):
            a, b = flags
            case("mm", f"{dtype} 64x32 {a}".rstrip(" -"), f"{dtype} 32x48 {b}".rstrip(" -"))
            case("bmm", f"{dtype} 4x64x32 {a}".rstrip(" -"), f"{dtype} 4x32x48 {b}".rstrip(" -"))
            for alpha in (0.125, 1.0):
                case("baddbmm", f"{dtype} 4x1x48", f"{dtype} 4x64x32 {a}".rstrip(" -"), f"{dtype} 4x32x48 {b}".rstrip(" -"), alpha=alpha)
            case("matmul", f"{dtype} 2x4x64x32 {a}".rstrip(" -"), f"{dtype} 2x4x32x48 {b}".rstrip(" -"))
            case("matmul", f"{dtype} 2x64x32 {a}".rstrip(" -"), f"{dtype} 32x48 {b}".rstrip(" -"))
            case("addmm", f"{dtype} 48 g", f"{dtype} 64x32 {a}".rstrip(" -"), f"{dtype} 32x48 {b}".rstrip(" -"))
            for bias in ("w", "-", None):
                for rows in ("64x32", "2x64x32", "2x3x10x32"):
                    c = None if bias is None else f"{dtype} 48 {bias}".rstrip(" -")
                    case("linear", f"{dtype} {rows} {a}".rstrip(" -"), f"{dtype} 48x32 {b.replace('g', 'w')}".rstrip(" -"), c)
        case("mm", f"{dtype} 64x32 p10 g", f"{dtype} 32x48 g")
        case("mm", f"{dtype} 64x32 g", f"{dtype} 32x48 p10 g")
        case("mm", f"{dtype} 64x32 p10 g", f"{dtype} 32x48 p10 g", gradient="10")
        case("mm", f"{dtype} 1x32 g", f"{dtype} 32x1 g")
        case("bmm", f"{dtype} 4x64x32 p102 g", f"{dtype} 4x32x48 p021 g")
        case("bmm", f"{dtype} 4x64x32 p120 g", f"{dtype} 4x32x48 g")
        case("baddbmm", f"{dtype} 4x1x48 g", f"{dtype} 4x64x32 g", f"{dtype} 4x32x48 g", alpha=0.5)
        case("baddbmm", f"{dtype} 4x64x48 g", f"{dtype} 4x64x32 p102 g", f"{dtype} 4x32x48 p021 g", alpha=0.5)
        case("baddbmm", f"{dtype} 4x64x48", f"{dtype} 4x64x32 p120 g", f"{dtype} 4x32x48 g", alpha=0.5, gradient="021")
        case("matmul", f"{dtype} 2x4x64x32 p0213 g", f"{dtype} 2x4x32x48 p0321 g")
        case("matmul", f"{dtype} 2x4x64x32 g", f"{dtype} 1x4x32x48 g")
        case("matmul", f"{dtype} 1x4x64x1 g", f"{dtype} 1x4x1x30 g")
        case("matmul", f"{dtype} 2x64x32 p021 g", f"{dtype} 32x48 g")
        for flags in ("gg", "g-", "-g", "--"):
            a, b = flags
            case("matmul", f"{dtype} 48x32 {a}".rstrip(" -"), f"{dtype} 2x32x64 {b}".rstrip(" -"))
            case("matmul", f"{dtype} 48x32 {a}".rstrip(" -"), f"{dtype} 2x32x64 p021 {b}".rstrip(" -"))
        for added in ("2x64x48", "64x48", "1x64x48"):
            for bias in (f"{dtype} 48 w", None):
                case("linear", f"{dtype} 2x64x32 g", f"{dtype} 48x32 w", bias, f"{dtype} {added} g")
        case("linear", f"{dtype} 2x64x32 p102 g", f"{dtype} 48x32 w", f"{dtype} 48 w")
        case("linear", f"{dtype} 2x64x32 p102 g", f"{dtype} 48x32 w", None)
        case("linear", f"{dtype} 64x32 p10 g", f"{dtype} 48x32 w", f"{dtype} 48 w")
        case("linear", f"{dtype} 2x64x32 g", f"{dtype} 48x32 w", f"{dtype} 48 w", gradient="102")
        case("linear", f"{dtype} 2x64x32 g", f"{dtype} 1x32 w", f"{dtype} 1 w")
        case("addmm", f"{dtype} 64x48 g", f"{dtype} 64x32 g", f"{dtype} 32x48 g")
    for autocast in HALF:
        for x, flag in (("float32", "g"), ("bfloat16", "g"), ("float32", "")):
            case("linear", f"{x} 2x64x32 {flag}".strip(), "float32 48x32 w", "float32 48 w", autocast=autocast)
            case("linear", f"{x} 2x64x32 {flag}".strip(), "float32 48x32", "float32 48", autocast=autocast)
            case("linear", f"{x} 2x64x32 {flag}".strip(), "float32 48x32 w", None, autocast=autocast)
            case("matmul", f"{x} 2x4x64x32 {flag}".strip(), "float32 2x4x32x48 g", autocast=autocast)
            case("addmm", "float32 48 w", f"{x} 64x32 {flag}".strip(), "float32 32x48 w", autocast=autocast)
            case("bmm", f"{x} 4x64x32 {flag}".strip(), "float32 4x32x48 g", autocast=autocast)
            case("baddbmm", "float32 4x1x48", f"{x} 4x64x32 {flag}".strip(), "float32 4x32x48 g", alpha=0.5, autocast=autocast)
            case("mm", f"{x} 64x32 {flag}".strip(), "float32 32x48 w", autocast=autocast)


def network_cases():
    for card in CARDS:
        for dtype in ("bfloat16", "float32"):
            for rows, width in (("2x300", 64), ("8x128", 768), ("1x2048", 1024), ("4x577", 1024), ("3x7", 2048)):
                case("layer_norm", f"{dtype} {rows}x{width} g", f"{dtype} {width} w", f"{dtype} {width} w", card=card)
                case("rms_norm", f"{dtype} {rows}x{width} g", f"{dtype} {width} w", card=card)
    for dtype in FLOATS:
        for flags in ("gw", "g-", "-w", "--"):
            x, w = ((" " + flag).rstrip(" -") for flag in flags)
            case("rms_norm", f"{dtype} 2x300x64{x}", f"{dtype} 64{w}")
        case("rms_norm", f"{dtype} 2x300x64 g", None)
        case("rms_norm", f"{dtype} 2x300x64 p102 g", f"{dtype} 64 w", gradient="102")
        for flags in ("gww", "g--", "-ww", "gw-", "---"):
            x, w, b = ((" " + flag).rstrip(" -") for flag in flags)
            case("layer_norm", f"{dtype} 2x300x64{x}", f"{dtype} 64{w}", f"{dtype} 64{b}")
        case("layer_norm", f"{dtype} 2x300x64 p102 g", f"{dtype} 64 w", f"{dtype} 64 w", gradient="102")
    for dtype in ("float32", "bfloat16"):
        case("layer_norm", f"{dtype} 2x300x64 g", "float32 64 w", "float32 64 w", autocast="bfloat16")
        case("rms_norm", f"{dtype} 2x300x64 g", f"{dtype} 64 w", autocast="bfloat16")
        case("rms_norm", f"{dtype} 2x300x64 g", None, autocast="bfloat16")
        case("rms_norm", f"{dtype} 70000x64 g", f"{dtype} 64 w")
    for card in CARDS:
        for count, width in (("2x300", 64), ("4x1024", 2048), ("1x5", 128), ("8x512", 768), ("2x3072", 64), ("1x3073", 32), ("64", 64)):
            for dtype in ("bfloat16", "float32"):
                case("embedding", f"int64 {count}", f"{dtype} 1000x{width} w", card=card)
    for dtype in ("float32", "bfloat16"):
        for rows in (16, 1200):
            for flag in ("w", ""):
                case("embedding_bag", f"int64 {rows}x4", f"{dtype} 1000x64 {flag}".rstrip(), f"{dtype} {rows}x4")
    case("embedding_bag", "int64 192x16", "bfloat16 64x64 w", "bfloat16 192x16")
    for card in ("h100-80gb", "a100-80gb", "rtx-4090"):
        case("embedding_bag", "int64 9000x16", "bfloat16 4096x128 w", "bfloat16 9000x16", card=card)
    case("embedding", "int64 2x300", "float32 1000x64")
    case("embedding", "int64 2x300", "float32 1000x64 w", autocast="bfloat16")
    case("embedding", "int64 2x300", "float32 1000x64 w", gradient="102")
    for card in CARDS:
        for rows, words in ((600, 1000), (4096, 32000), (30, 50257), (1, 100)):
            for dtype in ("float32", "bfloat16"):
                case("cross_entropy", f"{dtype} {rows}x{words} g", f"int64 {rows}", card=card)
    case("cross_entropy", "float32 600x1000", "int64 600")
    for dtype in ("float32", "bfloat16"):
        case("cross_entropy", f"{dtype} 600x1000 g", "int64 600", autocast="bfloat16")


def indexing_cases():
    for sizes in ([4, 30], [1024, 1024], []):
        for dtype in ("int64", "float32", "bool"):
            case("zeros", sizes=sizes, dtype=dtype)
            case("full", sizes=sizes, dtype=dtype)
            case("to_device", sizes=sizes, dtype=dtype)
    for shape in ("4x30", "4x1024", "1x300"):
        for dtype in ("int64", "int32", "bool"):
            case("cumsum", f"{dtype} {shape}", d=-1)
        case("gather", f"int64 {shape}", f"int64 {shape}", d=-1)
        case("gather", f"float32 {shape}", f"int64 {shape}", d=-1)
    for n in (1, 64, 1024):
        for dtype in ("float32", "bfloat16", "float16"):
            case("eye", n=n, dtype=dtype)
    for end in (1, 300, 100000):
        case("arange", end=end)
    for first, second in (("4x1x30x30", "4x1x30x30"), ("4x1x1x30", "1x1x30x30"), ("30", "4x30")):
        case("logical", f"bool {first}", f"bool {second}")
    for kind in ("and", "or", "xor", "right_shift", "left_shift"):
        for first, second in (("int32", "int64"), ("int8", "int8"), ("int64", "int32")):
            case("bitwise", f"{first} 30x4x1", f"{second} 1x1x8", kind=kind)
        case("bitwise", "int32 30x64", kind=kind)
        case("bitwise", "int8 30x64 p10", kind=kind)
    case("bitwise", "bool 30x64", "bool 64", kind="xor")
    for dtype in ("float32", "bfloat16"):
        for flags in ("gg", "g-", "--"):
            for second in ("4x30x64", "64"):
                case("add_", f"{dtype} 4x30x64 {flags[0]}".rstrip(" -"), f"{dtype} {second} {flags[1]}".rstrip(" -"))
        case("unbind", f"{dtype} 3x30x64 g", d=0, use=0)
        case("unbind", f"{dtype} 3x4x30x64 p1203 g", d=0, use=2)
        for use in (0, 1):
            case("unbind", f"{dtype} 2x30x64", d=0, use=use)
    for dtype in FLOATS:
        for flags in ("g-", "-g", "gg", "--"):
            for second in ("2x4x30x30", "scalar"):
                case("where", "bool 1x1x30x30", f"{dtype} 2x4x30x30 {flags[0]}".rstrip(" -"), f"{dtype} {second} {flags[1]}".rstrip(" -"))
        case("where", "bool 1x1x30x30", f"{dtype} 2x4x30x30 p0132 g", f"{dtype} scalar")
        case("where", "bool 1x1x30x30", f"{dtype} 2x4x30x30 g", f"{dtype} scalar", gradient="0213")
        case("where", "bool 1x1x30x30", f"{dtype} 2x4x30x30 g", f"{dtype} scalar", autocast="bfloat16")
        case("where", "bool 2x1x30x1", f"{dtype} 30x30 g", "bfloat16 2x4x30x30 g")
        case("where", "bool 2x1x30x1", "bfloat16 2x4x30x30 g", f"{dtype} 1x30x30 g")
        case("index_rows", f"{dtype} 128x64", "int64 1x30")
    for count in (1, 8, 100):
        case("pow_tensor", "float32 scalar", f"int32 {count}")
        case("pow_tensor", "float32 scalar", f"int32 {count}", autocast="bfloat16")
    for card in CARDS:
        for shape in ("4x30", "64x77", "8x512", "1x1024", "2x30x64"):
            case("argmax", f"int32 {shape}", card=card)
            case("argmax", f"int64 {shape}", card=card)
            case("argmin", f"float32 {shape}", card=card)
            case("count_true", f"bool {shape}", card=card)
        for rows, others, width in ((63, 2048, 256), (7, 40, 64), (25, 25, 16), (4096, 1024, 8)):
            case("cdist", f"float32 1x{rows}x{width}", f"float32 1x{others}x{width}", card=card)
            case("cdist", f"float32 3x{rows}x{width}", f"float32 3x{others}x{width}", card=card)
            case("cdist", f"float32 1x{rows}x{width} p021", f"float32 1x{others}x{width}", card=card)
            case("cdist", f"float32 3x{rows}x{width}", f"float32 3x{others}x{width} p021", card=card)
            case("argmin", f"float32 {rows}x{others}", card=card)
            case("cdist", f"float32 1x{rows}x{width}", f"bfloat16 1x{others}x{width}", card=card, autocast="bfloat16")
        for shape, count in (((4, 77, 512), 4), ((8, 30, 64), 8), ((64, 77, 512), 64)):
            size = "x".join(map(str, shape))
            for dtype in ("float32", "bfloat16"):
                case("index", f"{dtype} {size} g", f"int64 {count}", f"int64 {count}", card=card, found=0)
                case("index_rows", f"{dtype} {shape[0] * shape[1]}x{shape[2]} g", f"int64 {count}", card=card)
        for shape in ("2x30", "1x600", "4x1024"):
            for dtype in ("float32", "bfloat16"):
                for flags in ("gg", "-g", "g-"):
                    x, source = ((" " + flag).rstrip(" -") for flag in flags)
                    case("masked_scatter", f"{dtype} {shape}x64{x}", f"bool {shape}x1", f"{dtype} {shape}x64{source}", card=card)
        for dtype in ("float32", "bfloat16") if card in ("h200", "b200", "a100", "a10") else ():
            patches = {"card": card, "padding": [0, 0], "groups": 1}
            weight, bias = f"{dtype} 768x3x16x16 w", f"{dtype} 768 w"
            case("convolution", f"{dtype} 4x3x224x224", weight, bias, stride=[16, 16], **patches)
            case("convolution", f"{dtype} 2x3x336x336", f"{dtype} 1024x3x14x14", None, stride=[14, 14], **patches)


def whole_number_cases():
    for name in ("sub_scalar", "floor_divide"):
        for sizes in ("scalar", "1", "4", "3x1030"):
            case(name, f"int64 {sizes}")
    for card in CARDS:
        for sizes in ("scalar", "1", "3x30", "3x4096", "100000", "3x1000000"):
            case("max", f"int64 {sizes}", card=card)
        for sizes in ("1x3", "8x3", "300x3", "4096x3", "2x5000", "1x200000", "3x64x7"):
            case("prod", f"int64 {sizes}", card=card, d=-1)
        case("prod", "int64 8x3", card=card, d=-1, keep=True)
        for count, each in ((1, 1), (1, 16), (4, 1), (4, 8), (300, 3), (5000, 2)):
            case("repeat_interleave", f"int64 {count}", f"int64 {count}", card=card, each=each)
        for count, found in ((1, 1), (7, 3), (600, 600), (4096, 4096), (4097, 4097), (4097, 0), (70000, 30000), (300000, 300000)):
            case("index_mask", f"int64 {count}", f"bool {count}", card=card, found=found)
            values = f"int64 3x{found}"
            case("index_put_", f"int64 3x{count}", None, f"bool {count}", values, card=card, found=found)


def random_cases(count, seed):
    """Reductions, normalizations, products and embeddings of sizes at random, on every card."""
    draw = random.Random(seed)

    def size(most):
        return draw.choice([draw.randint(1, 8), draw.randint(1, most), 2 ** draw.randint(0, most.bit_length() - 1)])

    for _ in range(count):
        card, dtype = draw.choice(CARDS), draw.choice(FLOATS)
        dims = draw.randint(1, 4)
        shape = [size([1 << 20, 4096, 1024, 256][dims - 1]) for _ in range(dims)]
        if _elements(shape) > 1 << 27:
            continue
        order = "".join(map(str, draw.sample(range(dims), dims)))
        x = f"{dtype} {'x'.join(map(str, shape))}" + (f" p{order}" if draw.random() < 0.3 else "")
        case("sum", x, card=card, dims=sorted(draw.sample(range(dims), draw.randint(1, dims))), keep=draw.random() < 0.5)
        case("mean", x + " g", card=card, dims=[draw.randrange(dims)], keep=draw.random() < 0.5)
        rows, width, out = size(8192), size(8192), size(4096)
        case("layer_norm", f"{dtype} {rows}x{width} g", f"{dtype} {width} w", f"{dtype} {width} w", card=card)
        case("linear", f"{dtype} {rows}x{width} g", f"{dtype} {out}x{width} w", f"{dtype} {out} w", card=card)
        case("softmax", f"{dtype} {rows}x{width} g", card=card, dtype=draw.choice(["float32", dtype]))
        case("embedding", f"int64 {size(100000)}", f"{dtype} {size(150000)}x{draw.randint(1, 64)} w", card=card)


def _elements(shape):
    product = 1
    for n in shape:
        product *= n
    return product


for cases_of in (unary_cases, view_cases, copy_cases, binary_cases, activation_cases, reduction_cases, matmul_cases, network_cases, indexing_cases,
                 whole_number_cases):
    cases_of()
