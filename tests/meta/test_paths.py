"""check_paths.py finds paths that do not exist, and leaves those of other projects alone."""

import pathlib

import check_paths
import pytest
from trees import write


@pytest.fixture
def root(tmp_path):
    for name in ("src/io/json.cpp", "src/nn/lora.cpp", "data/programs/5.0/llama"):
        write(tmp_path, name, "")
    write(tmp_path, "python/tidemark/inside/world.py", "")
    return tmp_path


def missing(root):
    """(file and line, path) of each problem."""
    found = []
    for problem in check_paths.check(root):
        place, text = problem.split(": ", 1)
        found.append((place, text.removeprefix("the repository has no ").split(";")[0]))
    return found


@pytest.mark.parametrize(
    "path",
    [
        "src/io/yaml.cpp",
        "src/nn/experts*",
        "io/yaml.cpp",
        "data/cards",
        "inside/ranks.py",
        "inside/ranks/",
        "src/{io,nn}/json.cpp",
        "data/programs/RELEASE/TYPE/more",
        "src/io/test.py::test_a",
    ],
)
def test_a_missing_path_in_a_page_is_found(root, path):
    write(root, "a.md", f"A page.\n\n`{path}` has it.\n")
    assert missing(root) == [("a.md:3", path.split("::")[0])]


@pytest.mark.parametrize(
    "path",
    [
        "src/io/json.cpp",
        "src/io/",
        "src/nn/lor*",
        "io/json.cpp",
        "inside/world.py",
        "src/{io/json,nn/lora}.cpp",
        "data/programs/RELEASE/MODEL_TYPE",
        "data/programs/<release>/llama",
        "torch: src/io/yaml.cpp",
        "transformers (5.0): src/io/yaml.cpp",
        "build/release/tidemark",
        "~/.cache/src",
        "/src/none.cpp",
        "https://example.org/src/none.cpp",
        "torch/nn/none.py",
        "inside/or/outside",
        "python train.py src/none",
    ],
)
def test_other_paths_of_a_page_are_no_problem(root, path):
    write(root, "a.md", f"`{path}` has it.\n")
    assert missing(root) == []


def test_commands_of_a_page_are_read(root):
    write(root, "a.md", "Run `python src/none.py x`, or\n\n    src/other.sh x\n\n```\nsrc/fenced.sh\n```\n")
    assert missing(root) == [("a.md:1", "src/none.py"), ("a.md:3", "src/other.sh")]


def test_comments_and_docstrings_are_read(root):
    comments = "// As src/io/none.h has it.\n/// One,\n/// src/io/more.h.\n"
    write(root, "src/a.h", comments + 'auto x = "src/io/text.h";\n')
    write(root, "src/b.py", '"""See inside/ranks.py."""\nx = 1  # src/io/json.cpp\n')
    assert missing(root) == [
        ("src/a.h:1", "src/io/none.h"),
        ("src/a.h:3", "src/io/more.h"),
        ("src/b.py:1", "inside/ranks.py"),
    ]


def test_a_citation_in_a_comment_is_no_problem(root):
    write(root, "src/a.h", "// torch: a.cpp, src/io/none.h (2.0)\n\n// (transformers (5.0): src/none.py)\n")
    assert missing(root) == []
    write(root, "src/a.h", "// torch: a.cpp. As src/io/none.h has it.\n")
    assert missing(root) == [("src/a.h:1", "src/io/none.h")]


def test_a_link_that_leads_nowhere_is_found(root):
    write(root, "a.md", "[a](src/io/json.cpp) [b](src/none.cpp#x) [c](https://a/b) [d](#e) `[f](none.md)`\n")
    assert missing(root) == [("a.md", "the link to src/none.cpp leads nowhere")]


def test_paths_of_this_tree():
    assert list(check_paths.check(pathlib.Path(__file__).resolve().parents[2])) == []
