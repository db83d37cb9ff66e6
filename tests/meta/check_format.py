#!/usr/bin/env python3
"""Fails on C++ that clang-format and on Python that ruff would write otherwise, or that ruff's rules refuse.  usage: check_format.py REPOSITORY

Both are those of tools/requirements/torch-2.15.txt, since other releases of them break lines elsewhere.
"""

import pathlib
import subprocess
import sys

from check_sizes import CPP, sources

SKIPPED = 77  # the tests' SKIP_RETURN_CODE


def check(root, tools):
    """What is not as the two of the folder `tools` would write it, one a line."""
    cpp = [file for file in sources(root) if file.suffix in CPP]
    commands = [[tools / "ruff", "format", "--check", "--quiet", "--no-cache", root], [tools / "ruff", "check", "--output-format", "concise", "--quiet", "--no-cache", root]]
    if cpp:
        commands.append([tools / "clang-format", "--dry-run", "--Werror", *cpp])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            yield from (done.stdout + done.stderr).splitlines()


def tools_folder(root):
    return root / ".venv/bin"


def main():
    root = pathlib.Path(sys.argv[1])
    tools = tools_folder(root)
    if not (tools / "clang-format").exists():
        print(f"format: there is no {tools / 'clang-format'} (tools/setup.sh --tests)")
        return SKIPPED
    problems = list(check(root, tools))
    print("\n".join(problems) or "format: every file is as clang-format and ruff write it")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
