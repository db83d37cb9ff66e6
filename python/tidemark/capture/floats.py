"""Floats, of which no size follows: things that differ in these alone are one, but that what is dropped with no probability is not dropped, and labels that are smoothed by nothing are not smoothed."""

import re

_FLOAT = re.compile(r"(?<![\w.])-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)(?![\w.])")
_AMOUNT = re.compile("drop|label_smoothing")
_BEGINNINGS = tuple("-0123456789in")  # what else is said is told apart sooner


def without_floats(text):
    """The text without floats, and of an amount, as of what is dropped, no more than whether it is nothing: what is done, and with what sizes."""
    return "\n".join(_FLOAT.sub(lambda found: "0.0" if _AMOUNT.search(line) and _is_zero(found.group()) else "1.0", line) for line in text.split("\n"))


def any_float(term):
    """What stands for the term where floats are not told apart: one for all of them that are nothing, one for the others."""
    if not isinstance(term, str) or term[:1] not in _BEGINNINGS or not _FLOAT.fullmatch(term):
        return term
    return "0.0" if _is_zero(term) else "1.0"


def _is_zero(text):
    return not text.strip("-0.").partition("e")[0].strip("0.")
