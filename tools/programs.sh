#!/usr/bin/env bash
# Tries real public programs, unmodified, under `tidemark run`, each in an environment of its own over a base environment, and writes docs/programs.md.
#   tools/programs.sh                                   every program of validation/programs, over .venv: an hour or two
#   tools/programs.sh trl_sft timm                      these
#   TIDEMARK_PYTHON=.venv-torch-2.11/bin/python tools/programs.sh …    over another base environment: another column of the page
# PROGRAMS_SOURCES=FOLDER holds clones (FOLDER/OWNER/NAME) of repositories that no package has; what wants one that is not there is skipped and says so.
# PROGRAMS_LOGS=FOLDER keeps what each program said; PROGRAMS_PATIENCE=4 waits four times as long, on a machine that does much else.
set -euo pipefail
cd "$(dirname "$0")/.."
export TIDEMARK_BIN="${TIDEMARK_BIN:-$PWD/build/release/apps/cli/tidemark}" TIDEMARK_PYTHON
TIDEMARK_PYTHON=$(realpath --no-symlinks "${TIDEMARK_PYTHON:-.venv/bin/python}")
"$TIDEMARK_BIN" prepare --python "$TIDEMARK_PYTHON"   # before any time is taken
python3 validation/programs/programs.py "$@"
python3 validation/programs/page.py
