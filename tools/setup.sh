#!/usr/bin/env bash
# Installs what is missing and builds: Debian packages, the Python environments, the C++ side.  Run again, it does only
# what is not done.  Output goes to build/setup.log.
#   tools/setup.sh            the command, and the environment of the newest torch
#   tools/setup.sh --packages the Debian packages alone
#   tools/setup.sh --build    these and the command, without a Python environment
#   tools/setup.sh --fast     what `tools/test.sh fast` needs: no Python environment
#   tools/setup.sh --tests    what `tools/test.sh` needs
#   tools/setup.sh --page     what the groups of tests need that use the page, or the documents' site
#   tools/setup.sh --all      what `tools/test.sh all` needs: the other releases of torch and transformers
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/progress.sh
part=${1:-}
tests=(--fast --tests --page --all)
is_one_of() { [[ " ${*:2} " == *" $1 "* ]]; }

packages=(g++ cmake ninja-build python3-venv python3-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev
  libtomlplusplus-dev libfmt-dev libevent-dev)
if is_one_of "$part" "${tests[@]}"; then
  packages+=(libgtest-dev libgmock-dev librapidcheck-dev zlib1g-dev strace python3-pytest python3-pytest-xdist)
fi
if is_one_of "$part" --tests --page --all; then packages+=(chromium); fi
if is_one_of "$part" --page --all; then
  packages+=(emscripten lua5.4)
  command -v npm >/dev/null || packages+=(npm)  # Node.js of another place than Debian brings npm itself
fi

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${#missing[@]} Debian packages: about a minute"
  with_progress packages bash -euc 'apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' install "${missing[@]}"
}

# Of transformers alone, beside an environment whose torch it runs with.
transformers_beside() {
  local folder=$1/transformers-${2%.*}
  [ -d "$folder" ] ||
    "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder" "transformers==$2"
}

environments() {
  python3 tools/environment.py .venv tools/requirements/torch-2.15.txt
  if is_one_of "$part" --page --all; then
    python3 tools/environment.py .venv-integrations tools/requirements/integrations.txt
  fi
  if [ "$part" = --all ]; then
    python3 tools/environment.py .venv-torch-2.11 tools/requirements/torch-2.11.txt
    python3 tools/environment.py .venv-torch-2.6 tools/requirements/torch-2.6.txt
    python3 tools/environment.py .venv-vllm-0.33 tools/requirements/vllm-0.33.txt
    # The older of the published runs were made with this transformers (validation/xmem/README.md).
    transformers_beside .venv-torch-2.6 4.51.3
    transformers_beside .venv 5.17.0
  fi
}

build() {
  local preset=release
  ! is_one_of "$part" "${tests[@]}" || preset=tests
  cmake --preset $preset -DPython3_EXECUTABLE=/usr/bin/python3
  cmake --build --preset $preset --parallel "$(nproc)"
}

both() {
  build & local compiler=$!
  environments
  wait $compiler
}

install_packages
case $part in
  --packages) ;;
  --build | --fast) with_progress compiling build ;;
  *) with_progress "compiling, and installing Python packages" both ;;
esac
