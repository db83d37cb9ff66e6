"""check_style.py finds each kind of finding, and its list of exceptions only shrinks."""

import pathlib

import check_style
import prose
import pytest
from trees import write

GUIDE = """# Style

| avoid | write |
| --- | --- |
| `^Of`, `^What` | the subject first |
| `whole number`, `whole numbers` | integer |
| `tells … apart` | distinguish |
"""


@pytest.fixture
def root(tmp_path):
    write(tmp_path, check_style.GUIDE, GUIDE)
    write(tmp_path, "tests/meta/keep.txt", "")
    return tmp_path


def rows(root):
    found = check_style.findings(root).items()
    return {name: [(row.line, row.word.strip("`")) for row in each] for name, each in found}


def test_words_are_found_in_each_kind_of_prose(root):
    write(root, "a.cpp", "int a;  // five whole numbers\n/* a whole\n   number */\n")
    write(root, "b.h", 'throw Error("a whole "\n            "number");\n')
    docstring = '"""Title.\n\nTells two runs apart.\n"""\n'
    write(root, "c.py", docstring + 'x = 1  # a whole number\ny = "a whole number"\n')
    write(root, "d.md", "A line.\n\n- two whole\n  numbers\n\n| a | whole number |\n")
    assert rows(root) == {
        "a.cpp": [(1, "whole numbers"), (2, "whole number")],
        "b.h": [(1, "whole number")],
        "c.py": [(3, "tells … apart"), (5, "whole number"), (6, "whole number")],
        "d.md": [(3, "whole numbers"), (6, "whole number")],
    }


def test_a_finding_has_its_replacement(root):
    write(root, "a.md", "A line.\nA whole number.\n")
    assert "a.md:2: `whole number`: write integer" in list(check_style.check(root))


def test_sentences_without_a_subject_are_found(root):
    text = "/// Of the tensors.\n/// A file.  What follows is data.\n/// What is it?\n// The sum. Of `x`.\n"
    write(root, "a.h", text)
    write(root, "b.md", "Sizes of\nOf.\n\n## What differs\n\n## What differs?\n\n| Of rows | b |\n")
    assert rows(root) == {"a.h": [(1, "^Of"), (2, "^What"), (4, "^Of")], "b.md": [(4, "^What"), (8, "^Of")]}


def test_code_is_no_prose(root):
    fenced = "```\nx\n\nwhole number\n\ny\n```\n"
    write(root, "a.md", f"`whole number`\n\n    whole number\n\n{fenced}\n[x](whole number)\n")
    write(root, "b.cpp", '#include "whole number.h"\nauto x = R"(a whole number)";\nint whole; number;\n')
    write(root, "e.cpp", "char c = '\"'; // whole\nint number = 1'000; // \"\n")
    write(root, "c.py", 'f"{whole} {number}"\nx = {"whole": 1}\n')
    write(root, "tests/d.py", 'x = "a whole number"\n')
    write(root, "docs/proved-models.md", "A whole number.\n")
    assert rows(root) == {}


def test_comments_of_more_than_30_words_are_found(root):
    long = "// " + "word " * 16 + "\n"
    write(root, "a.cpp", long + "int a;\n" + long + long + "\n" + long + "int b;  " + long)
    write(root, "b.py", "# " + "word " * 31 + "\nx = 1\n# " + "word " * 30 + '\n"""' + "word " * 40 + '"""\n')
    assert rows(root) == {"a.cpp": [(3, "a comment of 32 words")], "b.py": [(1, "a comment of 31 words")]}


def test_a_trailing_comment_goes_on_at_its_column(root):
    write(root, "a.cpp", "int a;  // one\n        // two\n// three\nint b;  // four\nint c;  // five\n")
    path = root / "a.cpp"
    texts = [prose.joined(piece)[0] for piece in prose.pieces(path, path.read_text())]
    assert texts == ["one two", "three", "four", "five"]


def test_the_list_only_shrinks(root):
    page = write(root, "a.md", "A whole number.\n\nOf it.\n")
    assert check_style.update(root) == []
    assert (root / check_style.EXCEPTIONS).read_text().splitlines()[1:] == ["a.md: 2"]
    assert list(check_style.check(root)) == []
    page.write_text("A whole number.\n\nOf it. Of them.\n")
    assert list(check_style.check(root))[0].startswith("a.md: 3 findings, 2 listed")
    assert check_style.update(root) == ["a.md: 3 findings, 2 listed"]
    page.write_text("A whole number.\n")
    assert "the list only shrinks" in list(check_style.check(root))[0]
    assert check_style.update(root) == []
    assert (root / check_style.EXCEPTIONS).read_text().splitlines()[1:] == ["a.md: 1"]
    write(root, "b.md", "A whole number.\n")
    assert check_style.update(root) == ["b.md: 1 findings, 0 listed"]


def test_a_moved_file_keeps_its_count(root):
    page = write(root, "a/a.md", "A whole number.\n")
    assert check_style.update(root) == []
    write(root, "b/a.md", page.read_text())
    assert check_style.update(root) == ["b/a.md: 1 findings, 0 listed"]
    page.unlink()
    assert check_style.update(root) == []
    assert check_style.read_exceptions(root) == {"b/a.md": 1}


def test_a_guide_without_a_table_is_an_error(root):
    write(root, check_style.GUIDE, "# Style\n")
    with pytest.raises(SystemExit, match="no table"):
        check_style.findings(root)


def test_every_word_of_our_table_is_found():
    root = pathlib.Path(__file__).resolve().parents[2]
    glossary = check_style.Glossary((root / check_style.GUIDE).read_text())
    for word in glossary.replacements:
        text = word.lstrip("^").replace("…", "two of them") + " it"
        assert [found for _, found in glossary.findings(text)][:1] == [word]
