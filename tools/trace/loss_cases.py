"""Calls of losses that a module of one's own has, and heads for regression and for several labels: src/ops/loss_elementwise.cpp."""

from cases import call, case
from ops_cases import _functional

LOSSES = {
    "mse_loss": lambda x, a: _functional().mse_loss(x[0], x[1], reduction=a.get("reduction", "mean")),
    "l1_loss": lambda x, a: _functional().l1_loss(x[0], x[1], reduction=a.get("reduction", "mean")),
    "smooth_l1_loss": lambda x, a: _functional().smooth_l1_loss(x[0], x[1], reduction=a.get("reduction", "mean")),
    "binary_cross_entropy_with_logits": lambda x, a: _functional().binary_cross_entropy_with_logits(x[0], x[1], reduction=a.get("reduction", "mean")),
}
for name, function in LOSSES.items():
    call(name)(function)


def loss_cases():
    for name in LOSSES:
        for dtype in ("bfloat16", "float32"):
            for sizes in ("2x300x64", "600", "4x64"):
                case(name, f"{dtype} {sizes} g", f"{dtype} {sizes}")
            case(name, f"{dtype} 2x300x64", f"{dtype} 2x300x64")
            case(name, f"{dtype} 2x300x64 p021 g", f"{dtype} 2x300x64")
            for reduction in ("none", "sum"):
                case(name, f"{dtype} 2x300x64 g", f"{dtype} 2x300x64", reduction=reduction)
            case(name, f"{dtype} 2x300x64 g", f"{dtype} 2x300x64", autocast="bfloat16")
        case(name, "bfloat16 2x300x64 g", "float32 2x300x64")
        case(name, "float32 2x300x64 g", "bfloat16 2x300x64")
        if name != "binary_cross_entropy_with_logits":
            for flags in (" g", ""):
                case(name, f"float32 2x300x64{flags}", "float32 2x300x64 g")
        for card in ("h200", "l4"):   # so many that blocks share the sum
            case(name, "float32 4x1000x1000 g", "float32 4x1000x1000", card=card)


loss_cases()
