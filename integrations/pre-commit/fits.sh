#!/usr/bin/env bash
# Predicts each spec that is named, with the options in front of the first file (--gpu h100-80gb, --margin p90).  Ends with the largest exit code
# of `tidemark predict`: 0 fits, 1 does not, 2 and 3 a question that is wrong or not known.
set -uo pipefail
if ! command -v tidemark >/dev/null; then
  echo "tidemark is not on the PATH: pip install its wheel, or its .deb" >&2
  exit 2
fi
options=()
while [[ ${1:-} == --* ]]; do
  [[ $1 == *=* || -z ${2:-} ]] || { options+=("$1"); shift; }
  options+=("$1")
  shift
done
worst=0
for spec in "$@"; do
  code=0
  verdict=$(tidemark predict --spec "$spec" --quiet "${options[@]}" 2>&1) || code=$?
  [ "$code" -le "$worst" ] || worst=$code
  echo "$spec: ${verdict#tidemark: "$spec": }"
done
exit "$worst"
