#!/usr/bin/env python3
"""Fails on a path in a document, a comment or a docstring that does not exist.  usage: check_paths.py ROOT

A path begins with a folder of the repository.  `*`, `{a,b}`, `<name>` and words in capitals are patterns.
A path of another project follows the project's name: `torch: tools/autograd/derivatives.yaml`.
"""

import pathlib
import re
import sys

import prose

SUFFIXES = {".h", ".cpp", ".py", ".md"}
# Suffixes that tell a path from a ratio, a label or a branch.
EXTENSION = r"(?:h|cpp|py|sh|md|json|jsonl|yaml|yml|txt|cmake|gz)"
IN_COMMENT = re.compile(rf"(?<![\w/.:~$}}{{<>*+`-])([\w-]+/[\w./*{{}},<>-]*\.{EXTENSION})\b(?!/)")
IN_COMMAND = re.compile(rf"(?<!\S)([\w-]+/[\w./*{{}},<>-]*\.{EXTENSION})(?![\w/])")
BACKTICKED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
# The start of a citation, such as `transformers (5.17.0): `, until the end of its sentence.
CITATION = re.compile(r"[\w)]: (?!.*\. )|@\w+ $")
PROJECT = re.compile(r"[\w ./@-]+(?:\([\d.]+\))?: ")


class Tree:
    """The paths of a repository, found by any number of their last components."""

    def __init__(self, root):
        walked = list(prose.walk(root))
        folders = [folder for folder, _ in walked]
        paths = [path for folder, files in walked for path in (folder, *(folder / name for name in files))]
        names = [path.relative_to(root).as_posix() for path in paths if path != root]
        self.tops = {path.name for path in folders if path.parent in (root, root / "src")}
        self.folders = {path.name for path in folders if path != root}
        parts = [name.split("/") for name in names]
        self._ends = {"/".join(each[start:]) for each in parts for start in range(len(each))}
        self._lines = "\n/" + "\n/".join(names) + "\n"

    def has(self, path):
        path = path.rstrip("/")
        return path in self._ends or all(self._matches(each) for each in _alternatives(path))

    def _matches(self, path):
        pattern = re.sub(r"<[^>]*>|\*+|[A-Z][A-Z_]+", "\0", path)
        wildcard = r"[^/\n]*".join(map(re.escape, pattern.split("\0")))
        return re.search(f"/{wildcard}\n", self._lines) is not None


def _alternatives(path):
    """`a/{b,c}.h` as `a/b.h` and `a/c.h`."""
    found = re.search(r"\{([^}]*)\}", path)
    if not found:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    return [each for part in found[1].split(",") for each in _alternatives(before + part + after)]


def paths_of_page(text, tree):
    """(line, path) of each path in backticks and in indented commands; fenced code is excluded."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        if line.startswith("    "):
            paths = IN_COMMAND.findall(line)
            yield from ((number, path) for path in paths if path.split("/")[0] in tree.tops)
            continue
        for code in BACKTICKED.findall(line):
            if " " in code:
                if not PROJECT.match(code):
                    yield from ((number, path) for path in IN_COMMAND.findall(code))
            elif "/" in code:
                yield number, code.split("::")[0]


def paths_of_source(path, text):
    """(line, path) of each path in comments and docstrings, citations of other projects excluded."""
    for piece in prose.pieces(path, text):
        if piece.kind == "string":
            continue
        joined, line_of = prose.joined(piece)
        if "/" in joined:
            for found in IN_COMMENT.finditer(joined):
                if not CITATION.search(joined[: found.start()]):
                    yield line_of(found.start()), found[1]


def is_ours(path, tree):
    """Whether the path claims to be in the repository: by its first folder, or by its first two."""
    first, *rest = path.rstrip("/").split("/")
    if first in tree.tops:
        return rest != []
    is_path = path.endswith("/") or re.search(rf"\.{EXTENSION}$", path)
    return first in tree.folders and bool(is_path) and (len(rest) < 2 or tree.has(f"{first}/{rest[0]}"))


def check(root):
    """The problems, one a line."""
    tree = Tree(root)
    for path in prose.files(root, SUFFIXES):
        name, text = path.relative_to(root), path.read_text(errors="replace")
        if name.as_posix().startswith(("data/programs/", "tests/golden/")) and path.suffix == ".md":
            continue
        is_page = path.suffix == ".md"
        for line, found in paths_of_page(text, tree) if is_page else paths_of_source(path, text):
            if is_ours(found, tree) and not tree.has(found):
                yield f"{name}:{line}: the repository has no {found}; of another project: `PROJECT: {found}`"
        for target in LINK.findall(prose.without_code_spans(text)) if is_page else ():
            if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                yield f"{name}: the link to {target} leads nowhere"


def main():
    problems = list(check(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(problems) or "paths: every path in documents and comments exists")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
