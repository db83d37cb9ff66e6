#!/usr/bin/env bash
# All the tests: C++ and command line (ctest), then everything that runs PyTorch on the virtual GPU (pytest).
#   tools/test.sh         all
#   tools/test.sh fast    what needs no PyTorch and takes less than a minute
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = fast ]; then
  exec ctest --preset fast
fi
tools/setup.sh --tests
export TIDEMARK_BIN="$PWD/build/release/apps/cli/tidemark" TIDEMARK_PYTHON="$PWD/.venv/bin/python" TIDEMARK_PYTHON_26="$PWD/.venv-torch-2.6/bin/python"
export TIDEMARK_TRANSFORMERS_451="$PWD/.venv-torch-2.6/transformers-4.51"
export PATH="$PWD/.venv/bin:$PATH"
status=0
ctest --preset tests || status=$?
# Compiled once, for the runs from the build tree and for the wheel that tests/package makes.
for python in "$TIDEMARK_PYTHON" ${TIDEMARK_PYTHON_215:-}; do
  "$TIDEMARK_BIN" prepare --python "$python" --ship build/release/extensions
done
"$TIDEMARK_BIN" prepare --python "$TIDEMARK_PYTHON_26"
.venv/bin/python -m pytest -q -n 2 -p no:cacheprovider tests/data tests/python tests/oracle tests/examples tests/validation || status=$?
.venv/bin/python -m pytest -q -p no:cacheprovider tests/package || status=$?
exit $status
