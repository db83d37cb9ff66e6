"""A reader of programs that is as strict as docs/reference/programs.md, for the tests: every line has the form of a statement, every name that is used was made."""

import re
from collections import namedtuple

Body = namedtuple("Body", "kind name params checkpointable statements saved returned")
Program = namedtuple("Program", "header tree bodies")
Statement = namedtuple("Statement", "kind results head args mark block")

_NAME = r"(?:%\d+|\$[\w.^]+|self\.[\w.]+|@[\w.]+)"
_DTYPE = r"(?:T|bool|u?int\d+|b?float\d+\w*|complex\d+)"
_EXPRESSION = r"[\w\s+*/%(),-]+?"
_TYPE = rf"{_DTYPE}\[(?:{_EXPRESSION})?\]"
_RESULT = re.compile(rf"({_NAME})(?:: {_TYPE}(?P<flags>(?: (?:view|cpu|unseen))*))?$")
_HEAD = re.compile(r"(class|function|scope) ([\w.]+#\d+)\((.*)\)( checkpointable)?:$")
_TREE = re.compile(rf"(?:(?:param|buffer|attribute) \w+(?:: {_TYPE}(?: (?:frozen|transient|cpu))*| = [\w.]+)|[\w.-]+(?: by \d+ to \d+)?: (?:nn\.)?\w+(?:\(nn\.\w+\))?(?: checkpointable)?)$")
_CALL = re.compile(r"(?:call ([^ ]+): |apply |within )([\w.]+#\d+)\((.*)\)$")
_FUNCTION = re.compile(r"([A-Za-z_][\w.]*(?: autocast)?)\((.*)\)(?: !(host .+|data))?$")


def split(text):
    """At the commas that no bracket or text encloses."""
    parts, depth, at, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "([{<":
            depth += 1
        elif not quoted and c in ")]}>":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return [*parts, text[at:].strip()] if text.strip() else []


def read(text):
    header, tree, bodies, lines = {}, [], {}, iter(text.splitlines())
    for line in lines:
        if line.startswith("modules "):
            tree.append(line)
            break
        if line:
            key, _, value = line.partition(" ")
            header.setdefault(key, []).append(value)
    for line in lines:
        if not line:
            break
        assert _TREE.match(line.strip()), line
        tree.append(line)
    rest = [line for line in lines if line]
    while rest:
        match = _HEAD.match(rest[0])
        assert match, rest[0]
        end = next((i for i, line in enumerate(rest[1:], 1) if not line.startswith(" ")), len(rest))
        statements, saved, returned = _block(rest[1:end], 1)
        params = []
        for param in split(match[3]):
            path, _, kind = param.rpartition(": ")
            assert re.fullmatch(_TYPE, kind), param
            params.append(path)
        bodies[match[2]] = Body(match[1], match[2], params, bool(match[4]), statements, saved, returned)
        rest = rest[end:]
    return Program(header, tree, bodies)


def _block(lines, depth):
    statements, saved, returned, at = [], [], [], 0
    while at < len(lines):
        indent = len(lines[at]) - len(lines[at].lstrip())
        assert indent == 2 * depth, lines[at]
        text = lines[at].strip()
        at += 1
        if text.startswith("repeat "):
            assert re.fullmatch(r"repeat i in \d+\.\.[\w +*-]+:", text), text
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("  " * (depth + 1))), len(lines))
            inner, _, _ = _block(lines[at:end], depth + 1)
            statements.append(Statement("repeat", [], text, [], "", inner))
            at = end
        elif text.startswith("once "):
            assert re.fullmatch(rf"once {_NAME}:", text), text
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("  " * (depth + 1))), len(lines))
            inner, _, _ = _block(lines[at:end], depth + 1)
            assert any(s.kind == "keep" and s.head == text[5:-1] for s in inner), text
            statements.append(Statement("once", [], text, [], "", inner))
            at = end
        elif text.startswith("return "):
            returned = [r.rpartition("=")[2] for r in split(text[7:])]
        elif text.startswith("saves "):
            saved = text.split()[1:]
        else:
            statements.append(_statement(text))
    return statements, saved, returned


def _statement(text):
    word = text.partition(" ")[0]
    attribute = re.fullmatch(rf"keep ((?:self\.|@)[\w.]+)=({_NAME})", text)
    if attribute:
        return Statement("keep", [], attribute[1], [attribute[2]], "", [])
    if word in ("del", "hold", "keep", "next"):
        return Statement(word, [], "", text.split()[1:], "", [])
    if text == "exit autocast":
        return Statement("op", [], text, [], "", [])
    results, found = [], re.match(rf"((?:{_NAME}(?:: {_TYPE}[ a-z]*)?, )*{_NAME}(?:: {_TYPE}[ a-z]*?)?)(?: = (.*))?$", text)
    if found and (found[2] or "unseen" in text):
        for result in split(found[1]):
            match = _RESULT.match(result)
            assert match, result
            results.append((match[1], ":" in result))
        if found[2] is None:
            return Statement("op", results, "", [], "", [])
        text = found[2]
    call = _CALL.match(text)
    if call:
        arguments = split(call[3])
        assert all("=" in a for a in arguments), text
        return Statement("call", results, call[2], [tuple(a.split("=", 1)) for a in arguments], "", [])
    function = _FUNCTION.match(text)
    assert function, text
    return Statement("op", results, function[1], split(function[2]), function[3] or "", [])


def used(arguments):
    return [name for a in arguments for name in re.findall(r"%\d+|\$[\w.^]+", re.sub(r'"[^"]*"', "", a))]


def check(program):
    """Every name was made before it is used, and dies, is held or is returned once; every body that is called stands before."""
    before = {}
    for name, body in program.bodies.items():
        made, gone, kept = {"$" + p for p in body.params}, set(), set()
        _check_block(body.statements, made, gone, kept, before)
        for value in used(body.returned + body.saved):
            assert value in made, f"{name} returns {value}"
        locals_ = {v for v in made if v.startswith("%")}
        left = locals_ - gone - kept - set(body.returned)
        assert not left, f"{name}: nobody holds {left}"
        before[name] = ending(body.statements, body.params, before)


def ending(statements, params, before):
    """The parameters that die in the body, or in what it calls."""
    dead = {value[1:] for s in statements if s.kind == "del" for value in s.args if value.startswith("$")}
    return dead | {value[1:] for s in statements if s.kind == "call" for key, value in s.args if key in before[s.head] and value.startswith("$")}


def _check_block(statements, made, gone, kept, before):
    for s in statements:
        if s.kind == "repeat":
            following = dict(pair.split("=") for n in s.block if n.kind == "next" for pair in n.args)
            _check_block([n for n in s.block if n.kind != "next"], made, gone, kept, before)
            assert set(following) <= made and set(following.values()) <= made, following
            gone -= set(following)
            for value in following.values():
                made.discard(value)
                gone.discard(value)
            continue
        if s.kind == "once":  # what is made in it is known in it alone
            inside, dead, left = set(made), set(gone), set(kept)
            _check_block(s.block, inside, dead, left, before)
            assert not {v for v in inside - made if v.startswith("%")} - dead - left, s
            continue
        for value in used([a for _, a in s.args] if s.kind == "call" else s.args):
            assert value in made and value not in gone, f"{value} is not there: {s}"
        if s.kind in ("del", "hold"):
            gone |= set(s.args)
        if s.kind == "keep":  # its other names go their way
            kept |= set(s.args)
        if s.kind == "call":
            assert s.head in before, s.head
            gone |= {used([value])[0] for key, value in s.args if key in before[s.head]}
        for value, new in s.results:
            assert not value.startswith(("%", "$")) or new != (value in made), s
            made.add(value)
