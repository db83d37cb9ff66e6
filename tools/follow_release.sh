#!/usr/bin/env bash
# What a new release of torch and of transformers does differently: makes their environments, records everything again, prints what
# changed, stores torch's differences beside the recordings in tests/golden, and finds which of the programs in data/programs hold for that
# transformers; those that do not are captured of it.  docs/howto/follow-a-release.md says how to go on.
#   tools/follow_release.sh TORCH TRANSFORMERS
# First torch alone, with the transformers of tests/golden, then transformers with that torch, so that every change has one cause.
# A torch whose differences are stored is not recorded again: remove tests/golden/*/torch-TORCH.diff.gz for that.
# All is kept in build/follow; run again, it goes on where it stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 2 ] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
torch=$1 transformers=$2
base=tools/requirements/torch-2.11.txt
base_torch=$(sed -n 's/^torch==//p' $base) base_transformers=$(sed -n 's/^transformers==//p' $base)
site() { echo "$1"/lib/python3*/site-packages; }

# release TORCH TRANSFORMERS KIND ...: its environment, and its recordings of these kinds
release() {
  local folder=build/follow/$1+$2 started=$SECONDS
  tools/environment.py "$folder/environment" "$1" "$2"
  echo "torch $1, transformers $2: environment after $((SECONDS - started)) s"
  # A step that the release itself fails in is not recorded, and stands in the log.
  tools/trace/record_release.sh "$folder/environment/bin/python" "$folder/recordings" "${@:3}" || echo "torch $1, transformers $2: what is recorded is compared"
  echo "torch $1, transformers $2: recorded after $((SECONDS - started)) s"
}

# changes OLD_RECORDINGS OLD_ENVIRONMENT NEW_FOLDER: printed, and kept in NEW_FOLDER/changes.txt
changes() {
  python3 tools/trace/changes.py "$1" "$3/recordings" --packages "$(site "$2")" "$(site "$3/environment")" | tee "$3/changes.txt"
}

# programs FOLDER: the newest that are shipped, on the transformers of FOLDER
programs() {
  local python=$1/environment/bin/python tidemark=${TIDEMARK_BIN:-build/release/apps/cli/tidemark} shipped changed
  shipped=$(ls data/programs | grep -vxF "$transformers" | sort -V | tail -1)
  "$python" tools/capture/compare.py --of "$shipped" --note --table docs/shipped-families.md | tee "$1/programs.txt" || true
  mapfile -t changed < <(sed -n '/ | equal, /!s/^| \(\S*\) | .*/\1/p' "$1/programs.txt")
  [ ${#changed[@]} != 0 ] || return 0
  "$tidemark" run --quiet --gpu h100-80gb --memory 1000TB --keep-going -- "$python" tools/capture/ship.py data/programs "${changed[@]}" || [ $? = 3 ]
  "$python" tools/capture/compare.py --table docs/shipped-families.md "${changed[@]}"
}

base_environment=.venv-torch-2.11
python3 tools/environment.py $base_environment $base
with_base=build/follow/$torch+$base_transformers
if [ "$torch" != "$base_torch" ] && [ -e "tests/golden/steps/torch-$torch.diff.gz" ]; then
  tools/environment.py "$with_base/environment" "$torch" "$base_transformers"   # what changed in its packages is looked up there
  python3 tools/trace/differences.py unpack "$torch" "$with_base/recordings"
elif [ "$torch" != "$base_torch" ]; then
  release "$torch" "$base_transformers"
  echo "== what torch $torch changed, against $base_torch"
  changes tests/golden $base_environment "$with_base"
  for kind in ops allocator steps late layout; do
    python3 tools/trace/differences.py write $kind "$with_base/recordings/$kind" "$torch"
  done
fi
if [ "$transformers" != "$base_transformers" ]; then
  [ "$torch" != "$base_torch" ] && old=$with_base/recordings old_environment=$with_base/environment || old=tests/golden old_environment=$base_environment
  release "$torch" "$transformers" steps late parameters published
  cp "build/follow/$torch+$transformers/recordings/published/$transformers.txt.gz" tests/golden/published/
  echo "== what transformers $transformers changed, against $base_transformers"
  changes "$old" "$old_environment" "build/follow/$torch+$transformers"
  echo "== which programs hold on transformers $transformers"
  programs "build/follow/$torch+$transformers"
fi
