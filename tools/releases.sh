#!/usr/bin/env bash
# Tries both engines with releases of torch and transformers, each in an environment of its own, and writes docs/releases.md.
#   tools/releases.sh                  every release of validation/releases/releases.txt: hours
#   tools/releases.sh 2.15.0 5.23.0    one, which is added to the list
#   tools/releases.sh 2.15.0 5.23.0 tests/examples/test_frameworks.py …    of one, only these tests: what is known of the others stays
#   tools/releases.sh --newer          no tests: tells which releases the registry has that the page does not; exit code 1 if there are any
set -euo pipefail
cd "$(dirname "$0")/.."
list=validation/releases/releases.txt

newest() {   # of a package, as pip knows it
  python3 -m pip index versions "$1" 2>/dev/null | sed -n "1s/^$1 (\\(.*\\))\$/\\1/p"
}
if [ "${1:-}" = --newer ]; then
  status=0
  for name in torch transformers vllm; do
    version=$(newest $name)
    [ -z "$version" ] || grep -qiF "$name $version" docs/releases.md || { echo "docs/releases.md does not have $name $version: tools/follow_release.sh"; status=1; }
  done
  exit $status
fi

try() {   # TORCH TRANSFORMERS [TEST ...]
  local folder=".venv-torch-$1-transformers-$2" outcomes="$PWD/validation/releases/outcomes/torch-$1-transformers-$2.jsonl" tests=("${@:3}")
  tools/environment.py "$folder" "$1" "$2"
  local python="$PWD/$folder/bin/python"
  mkdir -p "$(dirname "$outcomes")"
  "$TIDEMARK_BIN" prepare --python "$python"
  if [ ${#tests[@]} = 0 ] || [ ! -e "$outcomes" ]; then
    "$python" - "$1" "$2" > "$outcomes" <<'PYTHON'
import json, platform, sys
print(json.dumps({"torch": sys.argv[1], "transformers": sys.argv[2], "python": platform.python_version()}))
PYTHON
  fi
  [ ${#tests[@]} != 0 ] || mapfile -t tests < <(python3 validation/releases/page.py --tests)
  TIDEMARK_OUTCOMES="$outcomes" TIDEMARK_PYTHON="$python" PATH="$PWD/$folder/bin:$PATH" PYTHONPATH=tests .venv/bin/python -m pytest -q -p outcomes -p no:cacheprovider "${tests[@]}" || true
  python3 validation/releases/page.py --settle "$outcomes"
}

export TIDEMARK_BIN="$PWD/build/release/apps/cli/tidemark"
TIDEMARK_COMMIT=$(git rev-parse --short=8 HEAD 2>/dev/null || true)
export TIDEMARK_COMMIT
if [ $# -ge 2 ]; then
  grep -qxF "$1 $2" "$list" || echo "$1 $2" >> "$list"
  try "$@"
else
  while read -r torch transformers; do try "$torch" "$transformers"; done < "$list"
fi
python3 validation/releases/page.py
