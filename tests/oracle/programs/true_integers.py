"""Integer and boolean operations on CUDA tensors, each compared with the same operation on the CPU.

Run on the virtual GPU; prints one JSON object: {"passed": n, "failed": {name: why}}.
"""

import json
import sys
import traceback

import integers_in_modes  # noqa: F401  (each adds its cases)
import integers_in_operations  # noqa: F401
import integers_in_strange_views  # noqa: F401
import integers_undisturbed  # noqa: F401
import integers_untouched  # noqa: F401
import torch
from integer_cases import CASES


def difference(expected, found, where=""):
    """None if equal; otherwise the first place that differs.  Float results are compared by shape alone."""
    if isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor):
        if expected.dtype != found.dtype or expected.shape != found.shape:
            return f"{where}: expected {expected.dtype} {list(expected.shape)}, found {found.dtype} {list(found.shape)}"
        if expected.is_floating_point() or expected.is_complex() or torch.equal(expected.cpu(), found.cpu()):
            return None
    elif isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)) and len(expected) == len(found):
        return next(filter(None, (difference(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(expected, found)))), None)
    elif expected == found:
        return None
    return f"{where}: expected {expected}, found {found}"


def main():
    passed, failed = 0, {}
    chosen = sys.argv[1:]
    for name, function in CASES.items():
        if chosen and not any(c in name for c in chosen):
            continue
        try:
            expected = function("cpu")
        except Exception as error:
            failed[name] = f"on the CPU: {error!r}"
            continue
        try:
            found = function("cuda")
        except Exception as error:
            failed[name] = "raises " + repr(error)[:300] + " at " + str(traceback.extract_tb(error.__traceback__)[-1].line)
            continue
        differs = difference(expected, found)
        if differs:
            failed[name] = differs[:700]
        else:
            passed += 1
    print(json.dumps({"passed": passed, "failed": failed}))


if __name__ == "__main__":
    main()
