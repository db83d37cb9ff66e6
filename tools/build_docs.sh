#!/usr/bin/env bash
# Builds the documents' site into build/site (or the folder that is named): static files, which open without a server.
# Fails on a link, or an anchor, that leads nowhere, and on a page that the menu does not have.
#   tools/build_docs.sh [FOLDER]        PYTHON says the environment with mkdocs-material (.venv-integrations, tools/requirements/integrations.txt)
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1 NO_MKDOCS_2_WARNING=1
# (--quiet would not count warnings.)
said=$("${PYTHON:-.venv-integrations/bin/python}" -m mkdocs build --strict --clean --site-dir "${1:-build/site}" 2>&1) || { echo "$said" >&2; exit 1; }
