"""Programs as text (docs/reference/programs.md)."""

import json
import re
from collections import Counter

from .terms import DtypeFrom, DtypeOf, Each, Element, Linear, Listed, Number, Slice, Span, Typed


def spelled(term):
    if isinstance(term, Number):
        return str(term.value)
    if isinstance(term, Listed):
        return "[" + ", ".join(map(spelled, term.items)) + "]"
    if isinstance(term, Slice):
        return "slice(" + ", ".join(map(spelled, term)) + ")"
    if isinstance(term, Typed):
        return f"{spelled(term.ref)}: {typed(term.dtype, term.sizes)}" + "".join(" " + f for f in term.flags)
    if isinstance(term, Element):
        return f"{spelled(term.row)}[{spelled(term.at)}]"
    if isinstance(term, Span):
        return f"{spelled(term.row)}[{spelled(term.first)}..{spelled(term.last)}]"
    if isinstance(term, Each):
        return f"{spelled(term.term)} for i in {spelled(term.first)}..{spelled(term.last)}"
    if isinstance(term, Linear):
        step, start, i = spelled(term.step), spelled(term.start), term.index
        times = i if step == "1" else f"{step}*{i}" if re.fullmatch(r"[\w.]+", step) else f"({step})*{i}"
        return times if start == "0" else f"{times} - {start[1:]}" if re.fullmatch(r"-\d+", start) else f"{times} + {start}"
    if isinstance(term, DtypeFrom):
        return f"dtype({spelled(term.ref)})"
    if isinstance(term, DtypeOf):
        return term.name
    return str(term)


def typed(dtype, sizes):
    return f"{spelled(dtype)}[{', '.join(map(spelled, sizes))}]"


def assigned(pairs):
    return ", ".join(f"{k}={spelled(t)}" if k else spelled(t) for k, t in pairs)


_VERBS = {"class": "call", "function": "apply", "scope": "within"}


class Printer:
    def __init__(self):
        self.out, self.names, self.counts = [], {}, Counter()

    def name(self, body):
        """The name of a body, which is printed before whatever asks for it."""
        if id(body) not in self.names:
            lines = list(self.block(body.statements, 1))
            if body.saved:
                lines.append("  saves " + " ".join(map(spelled, body.saved)))
            if body.returned:
                single = len(body.returned) == 1 and not body.returned[0][0]
                lines.append("  return " + (spelled(body.returned[0][1]) if single else assigned(body.returned)))
            self.counts[body.name] += 1
            self.names[id(body)] = f"{body.name}#{self.counts[body.name]}"
            params = ", ".join(f"{path}: {typed(dtype, sizes)}" for path, dtype, sizes in body.params)
            mark = " checkpointable" if body.checkpointable else ""
            self.out.append("\n".join([f"{body.kind} {self.names[id(body)]}({params}){mark}:", *lines]) + "\n")
        return self.names[id(body)]

    def block(self, statements, depth):
        indent = "  " * depth
        for s in statements:
            results = ", ".join(map(spelled, s.results))
            if s.kind in ("repeat", "each"):
                index = "j" if s.kind == "each" and any(inner.kind == "each" for inner in s.block) else "i"
                yield f"{indent}{s.kind} {index} in {spelled(s.name)}..{spelled(s.count)}{' by ' + s.mark if s.mark else ''}:"
                yield from self.block(s.block, depth + 1)
                if s.next:
                    yield f"{indent}  next " + " ".join(f"{spelled(a)}={spelled(b)}" for a, b in s.next)
            elif s.kind == "of":
                yield f"{indent}of {s.name}:"
                yield from self.block(s.block, depth + 1)
            elif s.kind == "keep" and s.results:
                yield f"{indent}keep {results}={assigned(s.args)}"
            elif s.kind in ("del", "hold", "keep"):
                yield indent + " ".join([s.kind, *(spelled(t) for _, t in s.args)])
            elif s.kind == "call":
                where = f"{s.name}: " if s.body.kind == "class" else ""
                yield f"{indent}{results + ' = ' if results else ''}{_VERBS[s.body.kind]} {where}{self.name(s.body)}({assigned(s.args)}){' !' + s.mark if s.mark else ''}"
            elif not s.name:
                yield indent + results
            elif s.name == "once":
                yield f"{indent}once {assigned(s.args)}:"
                indent += "  "
            elif s.name == "end once":
                indent = indent[2:]
            elif s.name == "exit autocast":
                yield indent + s.name
            else:
                yield f"{indent}{results + ' = ' if results else ''}{s.name}({assigned(s.args)}){' !' + s.mark if s.mark else ''}"


def program_text(header, tree, root):
    """header: (key, value)s; tree: lines; root: the body of the model's class."""
    printer = Printer()
    printer.name(root)
    lines = [f"{key} {value if isinstance(value, str) else json.dumps(value)}" for key, value in header]
    return "\n".join([*lines, "", *tree, "", "\n".join(printer.out)])


def family_text(header, tree, mains):
    """mains: (conditions, root body)s; the same of several cases is printed once."""
    printer = Printer()
    names = [f"{printer.name(root)} when {', '.join(conditions)}" for conditions, root in mains]
    lines = [f"{key} {value}" for key, value in header]
    return "\n".join([*lines, *(f"main {name}" for name in names), "", *tree, "", "\n".join(printer.out)])
