#!/usr/bin/env python3
"""Every family of src/zoo is declared, listed and short: python check_zoo.py ROOT"""
import pathlib
import re
import sys

LONGEST = 120  # lines of a family


def check(root):
    zoo = root / "src/zoo"
    declared, listed = (zoo / "index.h").read_text(), (zoo / "index.cpp").read_text()
    problems = []
    for path in sorted(zoo.glob("*.cpp")):
        for maker in re.findall(r"^std::unique_ptr<Model> (make_\w+)\(const ModelRequest& request\) {", path.read_text(), re.M):
            if maker == "make_causal_lm":
                continue
            if f"{maker}(" not in declared:
                problems.append(f"src/zoo/index.h does not declare {maker}")
            if not re.search(rf"\b{maker}\b", listed):
                problems.append(f"src/zoo/index.cpp does not list {maker}")
        if "TODO" in path.read_text():
            problems.append(f"src/zoo/{path.name} has a TODO left")
    for model_type in re.findall(r'^    {"(\w+)"[^}]*(?:{[^}]*}[^}]*)*\bmake_\w+', listed, re.M):
        path = zoo / f"{model_type}.cpp"
        if not path.exists():
            problems.append(f"src/zoo/index.cpp lists {model_type}, which has no file of that name")
        elif len(path.read_text().splitlines()) > LONGEST:
            problems.append(f"src/zoo/{path.name} has more than {LONGEST} lines: what others share moves to src/nn")
    names = re.findall(r'^    {"(\w+)"', listed, re.M)
    recorded = re.findall(r'^    {"(\w+)"', (zoo / "config_keys.cpp").read_text(), re.M)
    problems += [f"src/zoo/config_keys.cpp has no keys of {name}: tools/trace/record_config_keys.py writes it" for name in names if name not in recorded]
    if names != sorted(names):
        problems.append("src/zoo/index.cpp: the entries are not in alphabetical order")
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "zoo: every family is declared, listed and short")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
