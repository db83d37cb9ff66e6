"""Calls that models of speech have: a weight in two parts, and the loss of a text that has no places: src/ops/loss_ctc.cpp, weight_norm.cpp."""

from cases import call, case
from ops_cases import FLOATS, _filled, _functional, _torch


@call("log_softmax")
def log_softmax(x, a):
    return _functional().log_softmax(x[0], dim=-1, dtype=getattr(_torch(), a["dtype"]) if "dtype" in a else None)


@call("weight_norm")
def weight_norm(x, a):
    return _torch()._weight_norm(x[0], x[1], a["d"])


@call("glu")
def glu(x, a):
    return _functional().glu(x[0], a["d"])


@call("ctc_loss")
def ctc_loss(x, a):
    """As transformers calls it: without cuDNN, with the targets of all samples in one row (transformers/loss/loss_ctc.py)."""
    steps, samples = x[0].shape[:2]
    with _torch().backends.cudnn.flags(enabled=False):
        return _functional().ctc_loss(x[0], x[1].fill_(1), x[2].fill_(steps), x[3].fill_(x[1].numel() // samples), reduction=a["reduction"], zero_infinity=a.get("zero_infinity", False))


@call("masked_select")
def masked_select(x, a):
    _filled(x[1].view(-1), a["found"])
    return x[0].masked_select(x[1])


def speech_cases():
    for dtype in FLOATS:
        for order in ("", " p102"):
            case("log_softmax", f"{dtype} 3x70x32{order} g")
            case("log_softmax", f"{dtype} 3x70x32{order} g", dtype="float32")
        case("log_softmax", f"{dtype} 3x70x32", dtype="float32")
        case("log_softmax", f"{dtype} 3x70x32 g", autocast="bfloat16")
        case("log_softmax", f"{dtype} 3x70x32 g", dtype="float32", gradient="102")
        for d, scale in ((2, "1x1x128"), (0, "64x1x1")):
            case("weight_norm", f"{dtype} 64x16x128 w", f"{dtype} {scale} w", d=d)
        case("weight_norm", f"{dtype} 64x16x128", f"{dtype} 1x1x128 w", d=2)
        case("weight_norm", f"{dtype} 64x16x128 w", f"{dtype} 1x1x128", d=2)
        case("weight_norm", f"{dtype} 64x16x128", f"{dtype} 1x1x128", d=2)
        case("weight_norm", f"{dtype} 64x16x128 w", f"{dtype} 1x1x128 w", d=2, autocast="bfloat16")
        case("weight_norm", f"{dtype} 64x16x128 w", f"{dtype} 1x1x128 w", d=2, gradient="102")
    for dtype in FLOATS:
        for order, d in (("", 1), (" p021", 1), ("", 2), ("", 0)):
            case("glu", f"{dtype} 4x64x50{order} g", d=d)
        case("glu", f"{dtype} 4x64x50", d=1)
        case("glu", f"{dtype} 4x64x50 g", d=1, gradient="021")
        case("glu", f"{dtype} 4x64x50 g", d=1, autocast="bfloat16")
    for reduction in ("none", "mean", "sum"):
        for zero in (False, True):
            for sizes, labels in (("50x3x32 p102", 12), ("499x8x32 p102", 320), ("50x3x32", 12), ("300x2x1000 p102", 80), ("1499x16x32 p102", 3200)):
                samples = int(sizes.split()[0].split("x")[1])
                case("ctc_loss", f"float32 {sizes} g", f"int64 {labels}", f"int64 {samples}", f"int64 {samples}", reduction=reduction, zero_infinity=zero)
    for sizes in ("220x3x32", "218x3x32", "218x3x40", "221x1x32", "222x1x32"):   # on both sides of what is large
        case("ctc_loss", f"float32 {sizes} p102 g", "int64 12", f"int64 {sizes.split('x')[1]}", f"int64 {sizes.split('x')[1]}", reduction="sum")
    case("ctc_loss", "float32 50x3x32 p102", "int64 12", "int64 3", "int64 3", reduction="sum")
    case("ctc_loss", "float32 50x3x32 p102 g", "int64 12", "int64 3", "int64 3", reduction="sum", autocast="bfloat16")
    for weight in ("64x16x3", "64x16x3 w"):   # a row is put in order also where the weight does not train
        case("convolution", "bfloat16 2x16x128 p021 g", f"bfloat16 {weight}", None, stride=[1], padding=[1], groups=1, gradient="021")
    for dtype in ("bfloat16", "float32"):
        case("index_put_", f"{dtype} 2x60x64 g", "bool 2x60", f"{dtype} 64 g", found=40)   # one row for all that are true
        for x, row in (("g", " g"), ("g", ""), ("", " g"), ("", "")):
            case("index_put_", f"{dtype} 120x64 {x}", "bool 2x60", f"{dtype} 64{row}", found=40, view=[2, 60, 64])
        case("index_put_", f"{dtype} 120x64 g", "bool 2x60", f"{dtype} 40x64 g", found=40, view=[2, 60, 64])
    for dtype in ("int64", "float32"):
        for found in (20, 40):
            case("masked_select", f"{dtype} 4x10", "bool 4x10", found=found)
    for card in ("a100", "l4", "t4"):
        case("ctc_loss", "float32 499x8x32 p102 g", "int64 320", "int64 8", "int64 8", reduction="mean", card=card)
        case("weight_norm", "float32 768x48x128 w", "float32 1x1x128 w", d=2, card=card)


speech_cases()
