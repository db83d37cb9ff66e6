#!/usr/bin/env bash
# Records everything that tests/golden holds with the torch and transformers of one environment, each kind into OUT/KIND.
#   tools/trace/record_release.sh PYTHON OUT [KIND ...]     kinds: ops allocator steps late layout convolutions parameters published
# OUT/KIND.log has what the recorder said, OUT/KIND.DONE is there when it is complete; a kind that is done is not recorded again.
# Gemini's steps are left out: Colossal-AI pins its own torch (tools/trace/gemini.py).
set -uo pipefail
python=$(realpath -s "$1") out=$(mkdir -p "$2" && realpath "$2")
shift 2
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- ops allocator steps late layout convolutions parameters published
tidemark=$(realpath "${TIDEMARK_BIN:-../../build/release/apps/cli/tidemark}")
export PYTHONDONTWRITEBYTECODE=1
on_gpu() { "$tidemark" run --quiet --gpu "$1" --steps 1000000 -- "$python" "${@:2}"; }
on_host() { on_gpu h200 "$@" || [ $? = 3 ]; }   # 3: it ended without using the GPU, so there is no report

ops() { "$python" record_ops.py --tidemark "$tidemark" --python "$python" --out "$1"; }
allocator() { "$python" record_allocator.py --tidemark "$tidemark" --python "$python" --out "$1"; }
steps() {
  local status=0 machines
  for machines in one several; do   # one first: it is what most predictions rest on
    "$python" record_steps.py --tidemark "$tidemark" --python "$python" --out "$1" --named "$1.named" --missing --kinds $machines || status=$?
  done
  return $status
}
late() {
  local names=()
  for recording in ../../tests/golden/late/*.txt.gz; do names+=("$(basename "$recording" .txt.gz)"); done
  "$python" record_steps.py --tidemark "$tidemark" --python "$python" --out "$1" --late --only "${names[@]}"
}
layout() { on_host record_layouts.py "$1/layouts.txt.gz"; }
convolutions() { for card in a100-80gb rtx-3090 rtx-4090 h200 b200; do on_gpu $card record_convolutions.py record "$1/$card.jsonl" || return; done; }
parameters() { on_host record_parameters.py "$1"; }
published() { on_host record_published.py "$1"; }

status=0
for kind in "$@"; do
  [ ! -e "$out/$kind.DONE" ] || continue
  mkdir -p "$out/$kind"
  started=$SECONDS
  if "$kind" "$out/$kind" >"$out/$kind.log" 2>&1; then
    echo "$kind: recorded in $((SECONDS - started)) s" | tee "$out/$kind.DONE"
  else
    echo "$kind: not complete after $((SECONDS - started)) s, see $out/$kind.log" >&2
    status=1
  fi
done
exit $status
