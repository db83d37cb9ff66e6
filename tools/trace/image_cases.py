"""Calls of operations that models of images and sounds need, and einsum: src/ops/normalization.h, windows.h, einsum.h."""

from cases import call, case
from ops_cases import _functional, _torch


def _batch_norm(x, a):
    """The running statistics are the layer's: they are there before."""
    mean, variance = x[-2:]
    return _functional().batch_norm(x[0], mean, variance, x[1], x[2], training=True)


call("batch_norm")(_batch_norm)
call("group_norm")(lambda x, a: _functional().group_norm(x[0], a["groups"], x[1], x[2]))
call("normalize")(lambda x, a: _functional().normalize(x[0], dim=a["d"]))
call("adaptive_average_pool")(lambda x, a: _functional().adaptive_avg_pool2d(x[0], a["size"]))
call("max_pool")(lambda x, a: _functional().max_pool2d(x[0], a["window"], a["stride"], a["padding"]))
call("sum_as")(lambda x, a: x[0].sum(dim=a["dims"], keepdim=a["keep"], dtype=getattr(_torch(), a["dtype"])))
call("einsum")(lambda x, a: _torch().einsum(a["equation"], *x))


def batch_norm_cases():
    def of(spec, dtype, channels, leaf=" w", **more):
        parameter = f"{dtype} {channels}{leaf}"
        case("batch_norm", spec, parameter, parameter, f"{dtype} {channels}", f"{dtype} {channels}", **more)

    for dtype in ("bfloat16", "float32", "float16"):
        for sizes in ("4x64x14x14", "2x96x300", "3x32x1x1", "4x16x4x6x6"):
            for flag in (" g", ""):
                of(f"{dtype} {sizes}{flag}", dtype, sizes.split("x")[1])
        of(f"{dtype} 4x64x14x14 g", dtype, 64, leaf="")
        of(f"{dtype} 4x64x14x14 g", dtype, 64, gradient="0231")
        of(f"{dtype} 4x64x14x14 g", dtype, 64, gradient="1023")
        case("batch_norm", f"{dtype} 4x64x14x14 g", None, None, f"{dtype} 64", f"{dtype} 64")
        for rows in (32, 3000, 30000):
            for flag in (" g", ""):
                of(f"{dtype} {rows}x96{flag}", dtype, 96)
    for dtype in ("bfloat16", "float16"):   # of autocast: the layer's parameters stay as they are
        for sizes in ("4x64x14x14", "3000x96"):
            of(f"{dtype} {sizes} g", "float32", sizes.split("x")[1])
        of(f"{dtype} 4x64x14x14 p0231 g", dtype, 64)
        of(f"{dtype} 8x64x56x56 p0231 g", dtype, 64, gradient="0231")
        for flag in (" g", ""):
            of(f"{dtype} 2x64x101x4 p0321{flag}", dtype, 64)
            of(f"{dtype} 2x64x101x4 p0321{flag}", dtype, 64, gradient="0321")
            of(f"{dtype} 2x64x1001x4 p0321{flag}", dtype, 64)


def group_norm_cases():
    for dtype in ("bfloat16", "float32"):
        for order in (" g", " p0231 g", ""):
            case("group_norm", f"{dtype} 2x64x14x14{order}", f"{dtype} 64 w", f"{dtype} 64 w", groups=8)
        case("group_norm", f"{dtype} 2x64x14x14 g", f"{dtype} 64 w", f"{dtype} 64 w", groups=8, gradient="0231")
        case("group_norm", f"{dtype} 2x64x14x14 g", None, None, groups=8)
        case("group_norm", f"{dtype} 2x64x14x14", f"{dtype} 64 w", f"{dtype} 64 w", groups=8)
        case("group_norm", f"{dtype} 2x512x300 g", f"{dtype} 512 w", f"{dtype} 512 w", groups=512)
        case("group_norm", f"{dtype} 30x64 g", f"{dtype} 64 w", f"{dtype} 64 w", groups=4)
        case("group_norm", f"{dtype} 200x64x9 g", f"{dtype} 64 w", f"{dtype} 64 w", groups=1)
    case("group_norm", "float32 2x64x14x14 g", "float32 64 w", "float32 64 w", groups=8, autocast="bfloat16")
    case("group_norm", "bfloat16 2x64x14x14 g", "float32 64 w", "float32 64 w", groups=8, autocast="bfloat16")


def pool_cases():
    for dtype in ("bfloat16", "float32"):
        for sizes in ("2x64x14x14", "4x2048x7x7", "64x14x14", "2x8x1x300"):
            for size in ([1, 1], [7, 3], [1, 30]):
                case("adaptive_average_pool", f"{dtype} {sizes} g", size=size)
        case("adaptive_average_pool", f"{dtype} 2x64x14x14 p1023 g", size=[3, 3])
        case("adaptive_average_pool", f"{dtype} 2x64x14x14 p1023 g", size=[1, 1])
        case("adaptive_average_pool", f"{dtype} 2x64x14x14 g", size=[3, 3], gradient="1023")
        for gradient in ({}, {"gradient": "0123"}):
            case("adaptive_average_pool", f"{dtype} 2x64x14x14 p0231 g", size=[3, 3], **gradient)
        case("adaptive_average_pool", f"{dtype} 2x64x14x14 g", size=[1, 1], autocast="bfloat16")
        case("adaptive_average_pool", f"{dtype} 2x64x14x14", size=[3, 3])
        for window, stride, padding in ((3, 2, 1), (2, 2, 0), (3, 1, 1)):
            for order in (" g", " p1023 g", ""):
                case("max_pool", f"{dtype} 2x64x14x14{order}", window=window, stride=stride, padding=padding)
            case("max_pool", f"{dtype} 2x64x14x14 g", window=window, stride=stride, padding=padding, gradient="1023")
            for gradient in ({}, {"gradient": "0123"}):
                case("max_pool", f"{dtype} 2x64x14x14 p0231 g", window=window, stride=stride, padding=padding, **gradient)


def other_cases():
    for dtype in ("bfloat16", "float32"):
        for d in (-1, 1):
            for flag in (" g", ""):
                case("normalize", f"{dtype} 2x30x64{flag}", d=d)
                case("normalize", f"{dtype} 2x30x64{flag}", d=d, autocast="bfloat16")
        for d in (0, 1, -1):
            case("linalg_vector_norm", f"{dtype} 2x300x64 g", dims=[d], keep=True)
        for sizes in ("1", "3", "2x300x64"):
            for name in ("nansum", "nanmean"):
                case(name, f"{dtype} {sizes} g")
        for sizes in ("2x77x768", "32x512x1024"):
            case("mean", f"{dtype} {sizes} g", dims=[], keep=False)
        for dims in ([-1, -2], [0, 2], [1], []):
            for keep in (True, False):
                case("mean", f"{dtype} 2x300x64 g", dims=dims, keep=keep)
    for dims in ([-1], [0, 1], [1]):
        for keep in (True, False):
            case("sum_as", "bfloat16 2x300x64 g", dims=dims, keep=keep, dtype="float32")
            case("sum_as", "float32 2x300x64 g", dims=dims, keep=keep, dtype="float32")
            case("sum_as", "bfloat16 2x300x64 g", dims=dims, keep=keep, dtype="float32", autocast="bfloat16")


EINSUMS = (
    ("bhid,bhjd->bhij", "2x4x30x16", "2x4x20x16"), ("bij,bjk->bik", "2x30x16", "2x16x20"), ("bhwc,hkc->bhwk", "6x7x5x16", "7x9x16"),
    ("i,j->ij", "30", "16"), ("bnh,oh->bno", "2x30x16", "40x16"), ("...i,ij->...j", "2x3x30", "30x16"), ("bqc,bchw->bqhw", "2x10x16", "2x16x8x8"),
    ("bld,bld->bl", "2x30x16", "2x30x16"), ("ijk,k", "2x30x16", "16"), ("bij,bjk->ik", "2x30x16", "2x16x20"), ("bij,bkl->bik", "2x30x16", "2x20x8"),
    ("bfhk,hkd->bfd", "2x30x4x16", "4x16x32"), ("bnij,bmj->bnim", "2x4x30x16", "2x20x16"), ("bi,bj->bij", "2x30", "2x16"), ("bijc,jic->bij", "2x5x6x8", "6x5x8"),
    ("bln,blp->bpn", "2x30x16", "2x30x20"), ("bclhn,bclhp->bchpn", "2x1x30x4x16", "2x1x30x4x20"),
)


def einsum_cases():
    for equation, first, second in EINSUMS:
        for flags in ("gg", "g-", "--"):
            a, b = (f" {flag}".rstrip(" -") for flag in flags)
            case("einsum", f"bfloat16 {first}{a}", f"bfloat16 {second}{b}", equation=equation)
        case("einsum", f"float32 {first} g", f"float32 {second} g", equation=equation)
        case("einsum", f"float32 {first} g", f"float32 {second} g", equation=equation, autocast="bfloat16")
    case("einsum", "bfloat16 2x4x30x16 p0213 g", "bfloat16 2x4x20x16 p0213 g", equation="bhid,bhjd->bhij")
    for equation in ("bij->bji", "bij->b", "bij->bi", "...i->..."):
        case("einsum", "bfloat16 2x30x16 g", equation=equation)


batch_norm_cases()
group_norm_cases()
pool_cases()
other_cases()
einsum_cases()
