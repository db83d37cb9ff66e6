"""Reads the prose of a source tree: comments, docstrings and strings of C++ and Python; Markdown pages."""

import bisect
import collections
import itertools
import os
import pathlib
import re

# kind: "comment", "docstring", "string" or "page"; lines: [(line number, text without markers)].
Piece = collections.namedtuple("Piece", "kind lines")

SKIPPED = {".git", "build", "node_modules", "__pycache__", ".cache", "dist"}
CPP = {".h", ".cpp"}
CPP_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|'
    r'(?P<string>"(?:[^"\\\n]|\\.)*"(?:\s+"(?:[^"\\\n]|\\.)*")*)|'
    r"'(?:[^'\\\n]|\\.)'",
    re.DOTALL,
)
PYTHON_TOKEN = re.compile(
    r'(?P<comment>#[^\n]*)|(?P<triple>"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\')|'
    r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL,
)
MARKERS = re.compile(r"^\s*(?:/\*+|\*/|\*(?=\s)|//[/!]?<?|#!?)?\s*|\s*\*/$")
# Directives to tools are not prose.
DIRECTIVE = re.compile(r"NOLINT|clang-format (?:on|off)|noqa|fmt: |type: ignore|ruff: |!/")
BREAK = re.compile(r"^\s*(?:#|[-*+] |\d+\. |\||>)|^\s*$")
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>\n]+>|https?://\S+")
FIELD = re.compile(r'"\s*"|\{[^}]*\}')  # between adjacent literals, and of a format string
SPACE = re.compile(r"\s+")


def entered(folders):
    """The names of folders that have sources; build output and environments have none."""
    return sorted(name for name in folders if name not in SKIPPED and not name.startswith((".venv", "build")))


def walk(root):
    """(folder, names of its files) of `root` and all folders below that are entered."""
    for folder, folders, names in os.walk(root):
        folders[:] = entered(folders)
        yield pathlib.Path(folder), sorted(names)


def files(root, suffixes):
    """Paths below `root` with one of `suffixes`, sorted by folder."""
    for folder, names in walk(root):
        yield from (folder / name for name in names if os.path.splitext(name)[1] in suffixes)


def pieces(path, text):
    """The pieces of prose of one file, in order."""
    if path.suffix == ".md":
        return list(_pieces_of_page(text))
    return list(_pieces_of_source(text, CPP_TOKEN if path.suffix in CPP else PYTHON_TOKEN))


def joined(piece):
    """(text on one line with single blanks, line numbers as a function of the offset)"""
    offsets, parts, length = [], [], 0
    for _, line in piece.lines:
        offsets.append(length)
        parts.append(SPACE.sub(" ", line).strip())
        length += len(parts[-1]) + 1
    return " ".join(parts), lambda offset: piece.lines[bisect.bisect_right(offsets, offset) - 1][0]


def _pieces_of_source(text, token):
    comment, column, last = None, 0, 0
    starts = list(itertools.accumulate((len(row) + 1 for row in text.split("\n")), initial=0))
    for found in token.finditer(text):
        kind = found.lastgroup
        if kind in (None, "mark") or (kind == "string" and " " not in found[0]):
            continue
        line = bisect.bisect_right(starts, found.start())
        before = text[starts[line - 1] : found.start()]
        lines = [(line + n, row) for n, row in enumerate(found[0].split("\n"))]
        if kind == "comment":
            if DIRECTIVE.search(found[0][:40]):
                continue
            lines = [(n, MARKERS.sub("", row)) for n, row in lines]
            # A comment goes on where the next line has nothing but a comment at the same column.
            if comment and not before.strip() and line == last + 1 and len(before) == column:
                comment.lines.extend(lines)
            else:
                comment, column = Piece("comment", lines), len(before)
                yield comment
            last = lines[-1][0]
        elif kind == "triple" and before.strip() in ("", "r"):
            yield Piece("docstring", [(n, row.replace('"""', "")) for n, row in lines])
        elif not before.lstrip().startswith("#include"):
            yield Piece("string", [(n, FIELD.sub(" ", row).strip("\"' ")) for n, row in lines])


def _pieces_of_page(text):
    """Paragraphs, list items, headings and cells of tables; code blocks excluded."""
    fenced, paragraph, blank = False, [], True
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or (line.startswith("    ") and blank):
            continue
        blank = not line.strip()
        if BREAK.match(line) and paragraph:
            yield Piece("page", paragraph)
            paragraph = []
        if line.lstrip().startswith("|"):
            yield from (Piece("page", [(number, cell)]) for cell in line.split("|")[1:-1])
        elif not blank:
            paragraph.append((number, line))
    if paragraph:
        yield Piece("page", paragraph)


def without_code_spans(text):
    """Inline code and code blocks with a fence become blanks of the same length; lines stay."""
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_code(text):
    """Inline code, link targets, tags and addresses become blanks of the same length."""
    return CODE.sub(lambda found: " " * len(found[0]), text)
