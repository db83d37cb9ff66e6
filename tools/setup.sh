#!/usr/bin/env bash
# Installs what is missing and builds: Debian packages, the Python environments, the C++ side.  Run again, it does only what is not done.
#   tools/setup.sh            what the demo needs
#   tools/setup.sh --packages the Debian packages alone
#   tools/setup.sh --build    these and the command, without a Python environment
#   tools/setup.sh --tests    what the tests need besides
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build python3-venv python3-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libtomlplusplus-dev libfmt-dev libevent-dev)
[ "${1:-}" != --tests ] || packages+=(libgtest-dev libgmock-dev librapidcheck-dev zlib1g-dev chromium emscripten strace lua5.4)
# Node.js of another place than Debian brings npm itself.
[ "${1:-}" != --tests ] || command -v npm >/dev/null || packages+=(npm)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
[ "${1:-}" != --packages ] || exit 0

[ "${1:-}" = --build ] || python3 tools/environment.py .venv tools/requirements/torch-2.11.txt
if [ "${1:-}" = --tests ]; then
  python3 tools/environment.py .venv-torch-2.6 tools/requirements/torch-2.6.txt
  # The older of the published runs were made with this transformers (validation/xmem/README.md says how that is known).
  [ -d .venv-torch-2.6/transformers-4.51 ] || .venv-torch-2.6/bin/pip install --quiet --disable-pip-version-check --no-deps --target .venv-torch-2.6/transformers-4.51 transformers==4.51.3
  python3 tools/environment.py .venv-integrations tools/requirements/integrations.txt
  # The newest releases that are followed; beside them the transformers that predictions are compared with.
  python3 tools/environment.py .venv-torch-2.15 2.15.0 5.23.0
  [ -d .venv-torch-2.15/transformers-5.17 ] || .venv-torch-2.15/bin/pip install --quiet --disable-pip-version-check --no-deps --target .venv-torch-2.15/transformers-5.17 transformers==5.17.0
fi

preset=release
[ "${1:-}" != --tests ] || preset=tests
python=$PWD/.venv/bin/python
[ -x "$python" ] || python=/usr/bin/python3
cmake --preset "$preset" -DPython3_EXECUTABLE="$python" >/dev/null
cmake --build --preset "$preset"
