"""Calls of operations that families of models need here and there: src/ops/pointwise.h, src/ops/selection.h."""

from cases import call, case
from ops_cases import _filled, _functional, _torch, layouts_of

UNARY = {
    "abs": lambda x: x.abs(),
    "sqrt": lambda x: x.sqrt(),
    "log": lambda x: x.log(),
    "expm1": lambda x: x.expm1(),
    "erf": lambda x: x.erf(),
    "erfinv": lambda x: x.erfinv(),
    "reciprocal": lambda x: x.reciprocal(),
    "rounded": lambda x: x.floor(),
    "softplus": lambda x: _functional().softplus(x),
    "bent": lambda x: _functional().hardtanh(x),
    "rsub": lambda x: 1 - x,
    "sub_number": lambda x: x - 1,
    "clamp_between": lambda x: x.clamp(-1, 1),
    "clamp_from": lambda x: x.clamp_min(-1),
    "amax": lambda x: x.amax(-1, keepdim=True),
    "logsumexp": lambda x: x.logsumexp(-1, keepdim=True),
    "triangle": lambda x: x.triu(1),
    "flip": lambda x: x.flip(-1),
}
# Operators with the same cases, whose calls have arguments.
WITH_ARGUMENTS = {"cumsum": {"d": -1}, "roll": {"shifts": [1], "dims": [-1]}}
for name, function in UNARY.items():
    call(name)(lambda inputs, args, function=function: function(inputs[0]))


def _use(results, args):
    return results[args["use"]]


def _copied_into(x, parts):
    for i in range(parts):
        x[0][:, i * 8 : i * 8 + 8].copy_(x[1])
    return x[0]


def _added_into(x):
    part = x[0][:, 8:]
    part += x[1]
    return x[0]


def _filled_part(x):
    part = x[0][:, 8:]
    part.masked_fill_(x[1], 0.0)
    return x[0]


def _scaled_part(x):
    part = x[0][:, 8:]
    part *= 2
    return x[0]


def _true(mask, found):
    _filled(mask.view(-1), found)
    return mask


def _put(x, args):
    indices = [slice(None) if i is None else i if i.dtype == _torch().int64 else _true(i, args["found"]) for i in x[1:-1]]
    y = x[0].view(args["view"]) if "view" in args else x[0]
    y[tuple(indices)] = x[-1]
    return y


def _convolution(x, args):
    of = _functional().conv1d if x[0].dim() == 3 else _functional().conv2d
    return of(x[0], x[1], x[2], stride=args["stride"], padding=args["padding"], groups=args["groups"])


OTHERS = {
    "copy_": lambda x, a: x[0].copy_(x[1]),
    "copy_into": lambda x, a: _copied_into(x, a["parts"]),
    "roll": lambda x, a: x[0].roll(a["shifts"], a["dims"]),
    "add_into": lambda x, a: _added_into(x),
    "masked_fill_part": lambda x, a: _filled_part(x),
    "fill_": lambda x, a: x[0].zero_(),
    "to_in_order": lambda x, a: x[0].to(getattr(_torch(), a["dtype"]), memory_format=_torch().contiguous_format),
    "scale_": lambda x, a: x[0].mul_(2),
    "scale_part": lambda x, a: _scaled_part(x),
    "attention_bias": lambda x, a: _functional().scaled_dot_product_attention(x[0], x[1], x[2], attn_mask=x[3], is_causal=x[3] is None),
    "convolution_of_images": lambda x, a: _functional().conv2d(x[0], x[1], stride=a["stride"], padding=a["padding"]),
    "depthwise": lambda x, a: _functional().conv2d(x[0], x[1], x[2], stride=a["stride"], padding=a["padding"], groups=a["groups"]),
    "attention_turned": lambda x, a: _functional().scaled_dot_product_attention(x[0], x[1], x[2]),
    "convolution": lambda x, a: _convolution(x, a),
    "slice_all": lambda x, a: x[0][:, -x[0].shape[1]:],
    "repeat": lambda x, a: x[0].repeat(a["times"]),
    "index": lambda x, a: x[0][tuple(slice(None) if i is None else _torch().zeros(i.shape, dtype=i.dtype) if "host" in a else i if i.dtype == _torch().int64 else _true(i, a["found"]) for i in x[1:])],
    "index_put_": lambda x, a: _put(x, a),
    "index_put_number": lambda x, a: x[0].__setitem__(tuple(slice(None) if i is None else i for i in x[1:]), 3),
    "bucketize": lambda x, a: _torch().bucketize(x[0], x[1], right=True),
    "average_pool": lambda x, a: _functional().avg_pool2d(x[0], 2),
    "unfold_windows": lambda x, a: _functional().unfold(x[0], 2, stride=2),
    "grid_sample": lambda x, a: _functional().grid_sample(x[0], x[1], mode="bicubic", padding_mode="border", align_corners=False),
    "upsample": lambda x, a: _functional().interpolate(x[0], size=a["size"], mode=a["mode"]),
    "solve_triangular": lambda x, a: _torch().linalg.solve_triangular(x[0], x[1], upper=False, unitriangular=True),
    "maximum": lambda x, a: _torch().maximum(x[0], x[1]),
    "extreme": lambda x, a: _use(x[0].max(dim=a["d"], keepdim=a["keep"]), a),
    "deviation": lambda x, a: x[0].std(dim=a["d"], keepdim=a["keep"], unbiased=False),
    "index_select": lambda x, a: x[0].index_select(a["d"], x[1].zero_()),
    "scatter_number": lambda x, a: x[0].scatter(-1, x[1].zero_(), 1),
    "scatter_number_": lambda x, a: x[0].scatter_(-1, x[1].zero_(), 1),
    "scatter": lambda x, a: x[0].scatter(-1, x[1].zero_(), x[2]),
    "scatter_reduce": lambda x, a: x[0].scatter_reduce(-1, x[1].zero_(), x[2], reduce=a["reduce"], include_self=a["self"]),
    "scatter_": lambda x, a: x[0].scatter_(-1, x[1].zero_(), x[2]),
}
for name, function in OTHERS.items():
    call(name)(function)


def unary_cases():
    for name in (*UNARY, *WITH_ARGUMENTS):
        args = WITH_ARGUMENTS.get(name, {})
        in_matrices = name in ("triangle", "amax", "logsumexp", "flip", *WITH_ARGUMENTS)
        layouts_of(name, ("bfloat16", "float32"), **args)
        if not in_matrices:
            case(name, "float32 scalar g")
        for dtype in ("float32", "bfloat16"):
            case(name, f"{dtype} 2x30x64 g", autocast="bfloat16", **args)


def other_cases():
    for dtype in ("bfloat16", "float32"):
        for flag in (" g", ""):
            case("scale_", f"{dtype} 4x30x64{flag}")
            case("scale_part", f"{dtype} 4x30x64{flag}")
        for s, t in ((96, 96), (40, 72)):
            q, k = f"{dtype} 2x8x{s}x64 p0213 g", f"{dtype} 2x8x{t}x64 p0213 g"
            for card in ("h200", "a100", "l4"):
                case("attention_bias", q, k, k, f"{dtype} 1x8x{s}x{t} g", card=card)
            case("attention_bias", q, k, k, f"{dtype} 1x8x{s}x{t} p0231 g")   # as an embedding gives it: no kernel reads that
    for first in ("bfloat16 4x30", "float32 4x30", "float32 4x30 p10", "bfloat16 4x30 p10", "int64 40"):
        for boundaries in ("float32 9", "bfloat16 9"):
            case("bucketize", first, boundaries)
    for b, h, s, d, of_value in ((2, 4, 96, 32, 16), (1, 16, 300, 192, 128), (2, 4, 200, 64, 128)):
        q, value = f"bfloat16 {b}x{h}x{s}x{d} p0213 g", f"bfloat16 {b}x{h}x{s}x{of_value} p0213 g"
        case("attention_bias", q, q, value, None)
    case("fill_", "float32 4x30x64")
    case("fill_", "bfloat16 4x30x64 g")
    for flags in ("gg", "g-", "-g", "--"):
        first, second = (f" {flag}".rstrip(" -") for flag in flags)
        case("copy_", f"bfloat16 4x8x64{first}", f"bfloat16 4x8x64{second}")
        case("copy_", f"bfloat16 4x8x64{first}", f"float32 4x8x64{second}")
        for parts in (1, 3):
            case("copy_into", f"bfloat16 4x30x64{first}", f"bfloat16 4x8x64{second}", parts=parts)
            case("copy_into", f"float32 4x30x64{first}", f"bfloat16 4x8x64{second}", parts=parts)
            case("copy_into", f"float32 4x30x64{first}", f"float32 4x1x64{second}", parts=parts)
        if first or second:
            for shape in ("4x22x64", "64", "4x1x64"):
                case("add_into", f"bfloat16 4x30x64{first}", f"bfloat16 {shape}{second}")
                case("add_into", f"float32 4x30x64{first}", f"bfloat16 {shape}{second}")
        for second in ("2x300x64", "64", "scalar"):
            case("maximum", f"bfloat16 2x300x64 {flags[0]}".rstrip(" -"), f"bfloat16 {second} {flags[1]}".rstrip(" -"))
    for dtype in ("bfloat16", "float32"):
        for mask in ("4x22x64", "4x22x1", "22x64"):
            case("masked_fill_part", f"{dtype} 4x30x64 g", f"bool {mask}")
        case("masked_fill_part", f"{dtype} 4x30x64", "bool 4x22x64")


def indexed_cases():
    for dtype in ("bfloat16", "float32", "int64"):
        flag = "" if dtype == "int64" else " g"
        for d, keep in ((-1, True), (0, False), (1, True)):
            for use in (0, 1):
                case("extreme", f"{dtype} 4x30x64{flag}", d=d, keep=keep, use=use)
        if flag:
            for d, keep in ((-1, True), (0, False), (1, True)):
                case("deviation", f"{dtype} 4x30x64 g", d=d, keep=keep)
                case("deviation", f"{dtype} 4x30x64 g", d=d, keep=keep, autocast="bfloat16")
            case("deviation", f"{dtype} 2x96x16384 g", d=-1, keep=True)
        case("gather", f"{dtype} 4x30x64{flag}", "int64 4x30x8", d=-1)
        case("gather", f"{dtype} 4x30x64{flag}", "int64 4x3x64", d=1)
        case("index_select", f"{dtype} 4x30x64{flag}", "int64 9", d=1)
        case("index_select", f"{dtype} 4x30x64{flag}", "int64 9", d=0)
        case("index_select", f"{dtype} 4x30x64{flag}", "int64 9", d=2)
        for name in ("scatter_number", "scatter_number_"):
            case(name, f"{dtype} 4x30x64{flag}", "int64 4x30x8")
        for reduce in ("amin", "amax"):
            case("scatter_reduce", f"{dtype} 4x100", "int64 4x300", f"{dtype} 4x300", reduce=reduce, self=reduce == "amax")
            case("scatter_reduce", f"{dtype} 70000", "int64 600", f"{dtype} 600", reduce=reduce, self=reduce == "amax")
        for name in ("scatter", "scatter_"):
            case(name, f"{dtype} 4x30x64{flag}", "int64 4x30x8", f"{dtype} 4x30x8{flag}")
            case(name, f"{dtype} 4x30x64", "int64 4x30x8", f"{dtype} 4x30x8{flag}")
            case(name, f"{dtype} 4x30x64{flag}", "int64 4x30x8", f"{dtype} 4x30x8")
        for d in (0, 1, 2):
            for use in (0, 2):
                case("unbind", f"{dtype} 3x4x5{flag}", d=d, use=use)
        for times in ([1, 1, 1], [2, 1, 1], [1, 3, 2], [2, 1, 3, 1]):
            case("repeat", f"{dtype} 1x30x64{flag}", times=times)
            case("repeat", f"{dtype} 4x1x64 p021{flag}", times=times)
        for widths in ([0, 0, 0, 2], [1, 2, 3, 4], [0, 0, 0, 0], [0, 3, 0, 0, 1, 0]):
            case("pad", f"{dtype} 4x30x64{flag}", pad=widths)
            case("pad", f"{dtype} 4x30x64 p021{flag}", pad=widths)
        case("slice_all", f"{dtype} 4x30x64{flag}")
        if dtype != "int64":
            for order in ("p021", ""):
                case("to_in_order", f"{dtype} 4x30x64 {order}{flag}".replace("  ", " "), dtype="float32")
        case("index", f"{dtype} 5x40x64{flag}", None, "int64 70", found=0)
        case("index", f"{dtype} 40x64{flag}", "int64 70", found=0)
        case("index", f"{dtype} 40x64{flag}", "int64 7x9", found=0)
        if flag:
            case("index", f"{dtype} 40x64{flag}", "int64 7x9", found=0, gradient="102")   # as an einsum gives it
        case("index", f"{dtype} 40x64{flag}", "int64 70", found=0, host=True)
        case("index", f"{dtype} 40x30x8{flag}", "int64 70", "int64 70", found=0)
        case("index", f"{dtype} 40x30x8{flag}", "int64 7x1", "int64 9", found=0)
        case("index", f"{dtype} 40x30x8", None, "int64 9", found=0)
        case("index", f"{dtype} 40x30x8", "int64 9", None, "int64 9", found=0)
        case("index", f"{dtype} 40x64{flag}", "bool 40", found=11)
        case("index", f"{dtype} 40x30x8", "bool 40x30", found=25)
        case("index_put_", f"{dtype} 40x64{flag}", "int64 9", f"{dtype} 9x64{flag}", found=0)
        case("index_put_", f"{dtype} 40x64{flag}", "bool 40", f"{dtype} 9x64{flag}", found=9)
        case("index_put_", f"{dtype} 40x64", "bool 40", f"{dtype} 9x64{flag}", found=9)
        case("index_put_", f"{dtype} 40x64{flag}", "int64 9", f"{dtype} 9x64", found=0)
    for count in (1, 9):
        at = f"int64 {count}"
        for indices in ((at,), (at, at), (None, at), (None, at, at)):
            case("index_put_number", "float32 40x64x3", *indices, found=0)
            case("index_put_number", "int64 40x64x3", *indices, found=0)


def window_cases():
    for dims in ([1, 2], [0, 1, 2], [2]):
        for order in (" g", " p1023 g", ""):
            sizes = "4x30x6x8" if "1023" in order else "4x30x64"
            case("roll", f"bfloat16 {sizes}{order}", shifts=[2] * len(dims), dims=dims)
    for gradient in ("0132", "0312", "0231"):   # the first two are in no order that cuDNN takes
        case("convolution_of_images", "bfloat16 2x480x64x50 g", "bfloat16 480x480x3x3 w", stride=[2, 2], padding=[1, 1], gradient=gradient)
    case("convolution_of_images", "bfloat16 2x480x64x50", "bfloat16 480x480x3x3 w", stride=[2, 2], padding=[1, 1], gradient="0312")
    case("convolution_of_images", "bfloat16 2x480x64x50 g", "bfloat16 480x480x3x3", stride=[2, 2], padding=[1, 1], gradient="0312")
    for dtype in ("bfloat16", "float32"):
        for order in (" g", " p021 g", ""):
            case("convolution", f"{dtype} 2x128x96{order}", f"{dtype} 128x1x4 w", f"{dtype} 128 w", stride=[1], padding=[3], groups=128)
        case("convolution", f"{dtype} 2x128x96 g", f"{dtype} 128x1x4 w", None, stride=[1], padding=[3], groups=128, gradient="021")
        case("convolution", f"{dtype} 2x128x96 p021 g", f"{dtype} 128x1x4", None, stride=[1], padding=[3], groups=128, gradient="021")
        for order in (" g", ""):
            case("convolution", f"{dtype} 2x16x128{order}", f"{dtype} 64x16x3 w", f"{dtype} 64 w", stride=[1], padding=[1], groups=1)
        case("convolution", f"{dtype} 2x64x128 p021 g", f"{dtype} 64x64x3 w", f"{dtype} 64 w", stride=[2], padding=[1], groups=1)
    for dtype in ("bfloat16", "float32", "float16"):
        for kernel, stride in ((3, 1), (5, 2), (5, 1)):
            if dtype != "float16" or stride == 2:   # which cuDNN does else
                case("depthwise", f"{dtype} 2x64x14x14 g", f"{dtype} 64x1x{kernel}x{kernel} w", None, stride=[stride] * 2, padding=[kernel // 2] * 2, groups=64)
        case("depthwise", f"{dtype} 2x64x14x14 p0132 g", f"{dtype} 64x1x7x7 w", f"{dtype} 64 w", stride=[1, 1], padding=[3, 3], groups=64, gradient="0132")
    for dtype in ("bfloat16", "float16"):
        for card in ("h200", "b200"):
            q = f"{dtype} 2x8x300x64 g"
            case("attention_turned", q, q, q, gradient="0132", card=card)
            case("attention_turned", f"{dtype} 2x8x300x64 p0213 g", q, q, gradient="0132", card=card)
    for dtype in ("bfloat16", "float32"):
        case("average_pool", f"{dtype} 2x64x8x8 g")
        case("unfold_windows", f"{dtype} 1x64x8x8 g")
        case("unfold_windows", f"{dtype} 1x64x8x8 p0231 g")
        case("unfold_windows", f"{dtype} 2x64x8x8 p0231 g", gradient="021")
        case("unfold_windows", f"{dtype} 2x64x8x8")
        for first, second in (("", ""), (" g", ""), ("", " g"), (" g", " g")):
            case("grid_sample", f"float32 1x64x8x8{first}", f"float32 1x96x1x2{second}")
        for mode in ("bilinear", "bicubic", "nearest"):
            case("upsample", f"{dtype} 2x16x8x8 g", size=[12, 14], mode=mode)
            case("upsample", f"{dtype} 2x16x8x8 g", size=[12, 14], mode=mode, autocast="bfloat16")
            case("upsample", f"{dtype} 2x16x8x8 g", size=[12, 14], mode=mode, gradient="0132")
            case("upsample", f"{dtype} 2x16x8x8 g", size=[12, 14], mode=mode, gradient="0231")
            case("upsample", f"{dtype} 2x16x8x8 p0132 g", size=[12, 14], mode=mode)
            case("upsample", f"{dtype} 2x16x8x8 p0231 g", size=[12, 14], mode=mode)
            case("upsample", f"{dtype} 2x16x8x8 p0231 g", size=[12, 14], mode=mode, gradient="0123")
            case("upsample", f"{dtype} 2x3x8x8 p0231 g", size=[12, 14], mode=mode)
        case("upsample", f"{dtype} 2x16x9 g", size=[7], mode="linear")
        case("upsample", f"{dtype} 2x16x9 p021 g", size=[7], mode="linear")
        case("upsample", f"{dtype} 2x16x9 g", size=[7], mode="linear", gradient="021")
    for flags in ("gg", "g-", "-g", "--"):
        first, second = (f" {flag}".rstrip(" -") for flag in flags)
        case("solve_triangular", f"float32 2x8x64x64{first}", f"float32 2x8x64x16{second}")
        case("solve_triangular", f"float32 64x64{first}", f"float32 64x16{second}")
        case("solve_triangular", f"float32 2x8x64x64 p0132{first}", f"float32 2x8x64x16{second}", gradient="0132")
    case("solve_triangular", "float32 2x2x64x64 g", "float32 2x2x64x16 g")
    case("solve_triangular", "float32 2x2x32x32 g", "float32 2x2x32x16 g")
    case("cumsum", "bool 4x30", d=-1)
    case("cumsum", "int32 4x30", d=-1)


unary_cases()
other_cases()
indexed_cases()
window_cases()
