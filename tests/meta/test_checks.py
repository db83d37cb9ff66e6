"""The checks themselves find what they are for."""

import gzip
import pathlib
import re
import sys

import check_format
import check_layers
import check_names
import check_ops
import check_sizes
import check_tests
import check_torch_rules
import pytest
from trees import write


def test_layers_allow_what_stands_to_the_left(tmp_path):
    write(tmp_path, "src/io/a.cpp", '#include "base/bytes.h"\n#include <nlohmann/json.hpp>\n#include "io/a.h"\n')
    write(tmp_path, "apps/cli/main.cpp", '#include "io/a.h"\n#include <CLI/CLI.hpp>\n')
    assert check_layers.check(tmp_path) == []


def test_layers_refuse_the_other_direction(tmp_path):
    write(tmp_path, "src/base/a.cpp", '#include "memory/card.h"\n')
    write(tmp_path, "src/program/b.cpp", '#include "train/step.h"\n')
    write(tmp_path, "src/memory/c.cpp", "#include <nlohmann/json.hpp>\n")
    write(tmp_path, "virtual_gpu/d.cpp", '#include "io/report_json.h"\n')
    found = "\n".join(check_layers.check(tmp_path))
    for text in ("base must not include memory/card.h", "program must not include train/step.h", "c.cpp: only", "virtual_gpu must not include io"):
        assert text in found


def test_layers_refuse_folders_that_are_not_in_the_table(tmp_path):
    write(tmp_path, "src/misc/a.cpp", "")
    write(tmp_path, "src/base/deep/a.cpp", "")
    assert len(check_layers.check(tmp_path)) == 2


def test_names_find_two_types_of_one_name(tmp_path):
    write(tmp_path, "src/a/a.h", "namespace x::y {\nstruct Seen {\n  struct Inner {};\n};\nstruct Told;\n}\n")
    write(tmp_path, "src/b/b.h", "namespace x::z {\nstruct Seen {\n};\n}\n")
    assert check_names.check(tmp_path) == []
    write(tmp_path, "apps/c.h", "namespace x::y {\nclass Seen : public Told {\n};\n}\n")
    assert check_names.check(tmp_path) == ["x::y::Seen is defined in apps/c.h and in src/a/a.h"]


@pytest.mark.parametrize("words", ["tidemark", "-U tidemark", "'tidemark[notebook]'", "torch tidemark."])
def test_names_find_another_projects_install(tmp_path, words):
    write(tmp_path, "docs/a.md", f"one\n`python3 -m pip install {words}` two\n")
    assert [problem.split(": ")[0] for problem in check_names.foreign_installs(tmp_path)] == ["docs/a.md:2"]


@pytest.mark.parametrize("words", ["tidemark-gpu", "'tidemark-gpu[mcp]'", "dist/tidemark_gpu-*.whl", "tidemark_gpu-*.whl", "./tidemark"])
def test_names_pass_installs_of_ours(tmp_path, words):
    write(tmp_path, "docs/a.md", f"pip install {words}\n")
    assert list(check_names.foreign_installs(tmp_path)) == []


def test_sizes_find_long_cpp_functions(tmp_path):
    body = "  x();\n" * 90
    path = write(tmp_path, "a.cpp", f"namespace n {{\nint f(int a,\n      int b) {{\n{body}}}\nvoid g() {{\n  x();\n}}\n}}\n")
    assert [p.split(": ")[1] for p in check_sizes.problems_of(path)] == ["a function of 92 lines, at most 80"]


def test_sizes_take_no_class_or_namespace_for_a_function(tmp_path):
    members = "  int f() { return 1; }\n" * 90
    path = write(tmp_path, "a.h", f"class A : public B {{\n{members}}};\nnamespace x {{\n{members}}}\n")
    assert list(check_sizes.problems_of(path)) == []


def test_sizes_find_long_python_functions_and_files(tmp_path):
    path = write(tmp_path, "a.py", "def f():\n" + "    x = 1\n" * 90 + "y = 1\n" * 600)
    assert len(list(check_sizes.problems_of(path))) == 2


def test_ops_find_an_operation_without_a_golden(tmp_path):
    write(tmp_path, "src/ops/ops.h", "Tensor add(Tensor a, Tensor b);\nTensors split(Tensor x);\nvoid put(Tensor x);\n")
    write(tmp_path, "src/ops/index.cpp", '    {"add", "aten::add"},\n    {"split", "aten::split"},\n    {"gone", "aten::gone"},\n')
    write(tmp_path, "tests/golden/ops/add.json", "[]")
    write(tmp_path, "tests/golden/ops/old.json", "[]")
    found = "\n".join(check_ops.check(tmp_path))
    for text in ("does not list put", "declares gone", "split.json is missing", "old.json is of no operation"):
        assert text in found
    assert "add" not in found


def test_ops_of_this_tree():
    assert check_ops.check(pathlib.Path(__file__).resolve().parents[2]) == []


def test_tests_find_a_file_that_nothing_builds(tmp_path):
    write(tmp_path, "tests/golden/a/CMakeLists.txt", "add_executable(golden_a a_test.cpp)\n")
    write(tmp_path, "tests/unit/CMakeLists.txt", "file(GLOB sources CONFIGURE_DEPENDS */*_test.cpp)\n")
    for built in ("golden/a/a_test.cpp", "unit/base/a_test.cpp"):
        write(tmp_path, f"tests/{built}", "")
    assert check_tests.unlisted(tmp_path) == []
    for forgotten in ("golden/a/b_test.cpp", "unit/a/b/c_test.cpp"):
        write(tmp_path, f"tests/{forgotten}", "")
    assert check_tests.unlisted(tmp_path) == ["tests/golden/a/b_test.cpp", "tests/unit/a/b/c_test.cpp"]


def test_tests_find_two_of_one_name(tmp_path):
    for name in ("cli/test_a.py", "cli/test_b.py", "data/test_a.py"):
        write(tmp_path, f"tests/{name}", "")
    assert check_tests.of_one_name(tmp_path) == ["test_a.py"]


def test_tests_of_this_tree():
    root = pathlib.Path(__file__).resolve().parents[2]
    assert check_tests.unlisted(root) == [] and check_tests.of_one_name(root) == []


def test_every_step_case_is_recorded():
    root = pathlib.Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(root / "tools" / "trace"))
    import step_cases

    recorded = {path.name.removesuffix(".txt.gz") for path in (root / "tests/golden/steps").glob("*.txt.gz")}
    for later in (root / "tests/golden/steps").glob("torch-*.diff.gz"):  # what the base does not have yet
        recorded |= set(re.findall(r"^case (\S+)$", gzip.open(later, "rt").read(), re.MULTILINE))
    assert {case["name"] for case in step_cases.cases()} == recorded


RULES = """  /// In gone().  torch: a.cu, gone (2.15.0)
  bool one = false;
  /// torch: b.cu, kept; and
  /// c.cu (2.13.0)
  bool other = false;
"""
ROWS = """  add("2.11.0");
  rules.one = true;
  add("2.13.0");
  rules.other = true;
  rules.cudnn = "9.26";
  rules.third = true;
  add("2.15.0");
"""


def test_rules_cite_the_release_that_they_begin_in(tmp_path):
    write(tmp_path, "src/tensor/torch_rules.h", RULES)
    write(tmp_path, "src/tensor/torch_rules.cpp", ROWS)
    assert check_torch_rules.check(tmp_path) == [
        "torch_rules.h: one cites 2.15.0, torch_rules.cpp has it from 2.13.0 on",
        "torch_rules.h: other cites 2.13.0, torch_rules.cpp has it from 2.15.0 on",
        "torch_rules.cpp sets third, which torch_rules.h does not describe",
    ]


def test_our_rules_cite_the_release_that_they_begin_in():
    assert check_torch_rules.check(pathlib.Path(__file__).resolve().parents[2]) == []


def test_format_finds_what_would_be_written_otherwise(tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    tools = check_format.tools_folder(root)
    if not (tools / "clang-format").exists():
        pytest.skip(f"there is no {tools / 'clang-format'}")
    for name in (".clang-format", "pyproject.toml"):
        write(tmp_path, name, (root / name).read_text())
    write(tmp_path, "good.py", "import os\n\nprint(os.sep)\n")
    write(tmp_path, "good.cpp", "int f() { return 1; }\n")
    assert list(check_format.check(tmp_path, tools)) == []
    write(tmp_path, "spaces.py", "print( 1 )\n")
    write(tmp_path, "unused.py", "import os\n")
    write(tmp_path, "spaces.cpp", "int  g();\n")
    found = "\n".join(check_format.check(tmp_path, tools))
    for text in ("spaces.py", "unused.py:1:8: F401", "spaces.cpp:1:4", "code should be clang-formatted"):
        assert text in found, found
