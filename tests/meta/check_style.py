#!/usr/bin/env python3
"""Fails on words that docs/STYLE.md replaces, and on comments over 30 words.

usage: check_style.py ROOT [--update]

The first table of docs/STYLE.md has the words.  tests/meta/style_exceptions.txt has the number of findings
of each file that is older than the check.  --update lowers these numbers and never raises one.
"""

import argparse
import collections
import os
import pathlib
import re
import sys

import prose

GUIDE = "docs/STYLE.md"
EXCEPTIONS = "tests/meta/style_exceptions.txt"
MAX_COMMENT_WORDS = 30
SUFFIXES = {".h", ".cpp", ".py", ".md"}
# Programs, and pages that scripts write; the sources of these are checked.
GENERATED = re.compile(
    r"data/programs/|docs/(accuracy|answered-configs|captured-models|largest|programs|releases)\.md$|"
    r"docs/(proved-\w+|shipped-families)\.md$|"
    r"docs/reference/(cli|spec|measurements)\.md$|validation/(xmem/README|parallel/llmem\w*)\.md$"
)
HEADER = "# Numbers of findings; `tests/meta/check_style.py ROOT --update` lowers them.\n"
Finding = collections.namedtuple("Finding", "line word replacement")


class Glossary:
    """The words to avoid, as regular expressions, and their replacements."""

    def __init__(self, guide):
        self.replacements = dict(_rows(guide))
        words = [word for word in self.replacements if word[0] != "^"]
        openings = [word[1:] for word in self.replacements if word[0] == "^"]
        longest_first = sorted(words, key=len, reverse=True)
        self._words = re.compile(rf"\b(?:{'|'.join(map(_pattern, longest_first))})\b") if words else None
        self._openings = None
        if openings:
            # At the start of a piece or after a full stop; a question is no finding.
            start = r"(?:\A[\W\d]*|(?<=[.!?] )\W{0,3})"
            self._openings = re.compile(rf"{start}\b({'|'.join(openings)})\b(?![^.?!]*\?)")

    def findings(self, text):
        """(offset, word to avoid) of each in one piece of prose."""
        if self._words:
            for found in self._words.finditer(text.lower()):
                yield found.start(), self._entry(found[0])
        if self._openings:
            for found in self._openings.finditer(text):
                yield found.start(1), "^" + found[1]

    def _entry(self, found):
        if found in self.replacements:
            return found
        return next(word for word in self.replacements if "…" in word and re.fullmatch(_pattern(word), found))


def _pattern(word):
    """`…` stands for one to four words."""
    return r"(?: [\w'-]+){1,4} ".join(re.escape(part.strip()) for part in word.split("…")).replace(r"\ ", " ")


def _rows(guide):
    """(word to avoid, replacement) of the table that begins with `| avoid | write |`."""
    table = re.search(r"^\| avoid \| write \|\n\|[-| ]+\|\n((?:\|.*\n?)+)", guide, re.MULTILINE)
    if not table:
        raise SystemExit(f"{GUIDE}: no table begins with `| avoid | write |`")
    for row in table[1].splitlines():
        avoid, write = (cell.strip() for cell in row.strip().strip("|").split("|"))
        for word in re.findall(r"`([^`]+)`", avoid):
            yield word, write


def findings_of(path, text, glossary, strings=True):
    """The findings of one file, in the order of its lines."""
    found = []
    for piece in prose.pieces(path, text):
        if piece.kind == "string" and not strings:
            continue
        joined, line_of = prose.joined(piece)
        words = len(joined.split())
        if piece.kind == "comment" and words > MAX_COMMENT_WORDS:
            found.append(Finding(line_of(0), f"a comment of {words} words", f"at most {MAX_COMMENT_WORDS}"))
        for offset, word in glossary.findings(prose.without_code(joined)):
            if piece.kind != "string" or word[0] != "^":
                found.append(Finding(line_of(offset), f"`{word}`", f"write {glossary.replacements[word]}"))
    return sorted(found)


def findings(root):
    """{path: its findings} of the files that have any."""
    glossary = Glossary((root / GUIDE).read_text())
    result = {}
    for path in prose.files(root, SUFFIXES):
        name = str(path.relative_to(root))
        if GENERATED.match(name):
            continue
        # Strings of tests are data.
        found = findings_of(path, path.read_text(errors="replace"), glossary, not name.startswith("tests/"))
        if found:
            result[name] = found
    return result


def read_exceptions(root):
    """{path: count}, or None where there is no list yet."""
    path = root / EXCEPTIONS
    if not path.exists():
        return None
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(count) for name, count in (line.rsplit(": ", 1) for line in lines)}


def check(root):
    """The problems, one a line."""
    listed, found = read_exceptions(root) or {}, findings(root)
    for name in sorted(listed.keys() | found.keys()):
        allowed, rows = listed.get(name, 0), found.get(name, [])
        if len(rows) > allowed:
            yield f"{name}: {len(rows)} findings, {allowed} listed in {EXCEPTIONS}"
            yield from (f"{name}:{row.line}: {row.word}: {row.replacement}" for row in rows)
        elif len(rows) < allowed:
            counts = f"{len(rows)} findings, {allowed} listed in {EXCEPTIONS}"
            yield f"{name}: {counts}: run check_style.py ROOT --update, the list only shrinks"


def update(root):
    """Writes the list; the reasons to refuse, one a line."""
    listed = read_exceptions(root)
    counts = {name: len(rows) for name, rows in sorted(findings(root).items())}
    if listed is not None:
        listed = _with_moved(root, listed, counts)
        raised = [name for name, count in counts.items() if count > listed.get(name, 0)]
        if raised:
            return [f"{name}: {counts[name]} findings, {listed.get(name, 0)} listed" for name in raised]
    rows = "".join(f"{name}: {count}\n" for name, count in counts.items())
    (root / EXCEPTIONS).write_text(HEADER + rows)
    return []


def _with_moved(root, listed, counts):
    """The list, where a file that moved to another folder keeps its count."""
    gone = {os.path.basename(name): count for name, count in listed.items() if not (root / name).exists()}
    moved = {name: gone.get(os.path.basename(name), 0) for name in counts if name not in listed}
    return {**listed, **moved}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="lower the counts of the list of exceptions")
    arguments = parser.parse_args()
    if arguments.update:
        problems = update(arguments.root)
    else:
        problems = list(check(arguments.root))
    listed = read_exceptions(arguments.root) or {}
    summary = f"style: {sum(listed.values())} findings in {len(listed)} files, all listed"
    print("\n".join(problems) or summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
