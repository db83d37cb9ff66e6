"""How the cases of record_ops.py are written down."""

CALLS = {}
CASES = []
CARDS = ["h200", "b200", "a100", "l4", "a10", "t4", "rtx-5090"]


def call(name):
    """Says how PyTorch is called; arguments are taken from a list that the caller empties."""

    def add(function):
        CALLS[name] = function
        return function

    return add


def case(op, *inputs, card="h200", autocast=None, gradient=None, cold=False, **args):
    row = {"op": op, "card": card, "in": list(inputs)}
    if args:
        row["args"] = args
    if autocast:
        row["autocast"] = autocast
    if gradient:
        row["gradient"] = gradient
    if cold:
        row["cold"] = True
    CASES.append(row)
