"""The catalogue of mutants, and a tree in which the environment variable MUTANT selects one of them.

A mutant replaces one snippet.  In the replacement the word MUTANT stands for a condition: in C++ a call that
compares the variable once, in Python an expression that compares it each time.
"""

import dataclasses
import pathlib
import re
import shutil
import subprocess

import tomllib

WORD = re.compile(r"\bMUTANT\b")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CPP = (".cpp", ".h")
MOST_PER_FILE = 2

# Put into each file: torch_extension is compiled with the include folders of the user's torch.
PRELUDE = """\
#ifndef TIDEMARK_MUTANT
#define TIDEMARK_MUTANT
#include <cstdlib>
#include <cstring>
namespace tidemark_mutant {
template <unsigned long kLength>
struct Id {
  char letters[kLength] = {};
  constexpr Id(const char (&text)[kLength]) {
    for (unsigned long i = 0; i < kLength; ++i) letters[i] = text[i];
  }
};
template <Id kId>
inline bool is() {
  static const bool chosen = [] {
    const char* const name = std::getenv("MUTANT");
    return name && std::strcmp(name, kId.letters) == 0;
  }();
  return chosen;
}
}  // namespace tidemark_mutant
#endif
"""


@dataclasses.dataclass(frozen=True)
class Mutant:
    area: str
    id: str
    file: str
    find: str
    replace: str
    why: str


def read(root):
    """All mutants of the catalogue, area by area."""
    mutants = []
    for path in sorted((pathlib.Path(root) / "tests" / "mutants").glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutant"]:
            mutants.append(Mutant(area=path.stem, **entry))
    return mutants


def problems(root, mutants):
    """One sentence for each fault of the catalogue."""
    found = []
    for mutant in mutants:
        path = pathlib.Path(root) / mutant.file
        count = path.read_text().count(mutant.find) if path.is_file() else 0
        if count != 1:
            found.append(f"{mutant.id}: its snippet occurs {count} times in {mutant.file}, not once")
        if not WORD.search(mutant.replace):
            found.append(f"{mutant.id}: its replacement has no MUTANT")
        if not ID.fullmatch(mutant.id) or path.suffix not in (*CPP, ".py"):
            found.append(f"{mutant.id}: not an id, or neither C++ nor Python")
        if sum(other.id == mutant.id for other in mutants) > 1:
            found.append(f"{mutant.id}: the id occurs twice")
        same_file = [other for other in mutants if other.file == mutant.file]
        if len(same_file) > MOST_PER_FILE:
            found.append(f"{mutant.id}: {mutant.file} has more than {MOST_PER_FILE} mutants")
    return found


def condition(mutant):
    """The condition that replaces MUTANT."""
    if mutant.file.endswith(".py"):
        return f"(__import__('os').environ.get('MUTANT') == '{mutant.id}')"
    return f'::tidemark_mutant::is<"{mutant.id}">()'


def selectable(text, mutants):
    """The text of a file in which each of its mutants can be selected."""
    places = sorted((text.index(mutant.find), mutant) for mutant in mutants)
    parts, end = [], 0
    for start, mutant in places:
        if start < end:
            raise ValueError(f"{mutant.id}: its snippet overlaps another one")
        parts += [text[end:start], WORD.sub(lambda _, one=mutant: condition(one), mutant.replace)]
        end = start + len(mutant.find)
    prelude = PRELUDE if mutants and mutants[0].file.endswith(CPP) else ""
    return prelude + "".join(parts) + text[end:]


def apply(tree, mutants):
    """Makes all mutants of a tree selectable."""
    for file in sorted({mutant.file for mutant in mutants}):
        path = pathlib.Path(tree) / file
        path.write_text(selectable(path.read_text(), [mutant for mutant in mutants if mutant.file == file]))


def copy_tree(root, tree, names):
    """Copies files, and makes the copy a git repository.  Its build folder stays."""
    for name in names:
        source, target = pathlib.Path(root) / name, pathlib.Path(tree) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists() or source.is_symlink():
            shutil.copy2(source, target, follow_symlinks=False)
    subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    subprocess.run(["git", "add", "--all"], cwd=tree, check=True)
