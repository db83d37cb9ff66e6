#!/usr/bin/env bash
# The main jobs on a real input, without a GPU: LLaVA-1.5-7B projector pre-training, run on a virtual H100 by the real
# PyTorch, then predicted from its configuration alone, and both compared.  Uses the torch and transformers of the
# active environment, else installs them into .venv.  Tidemark comes from dist/*.whl if a wheel is there
# (docs/howto/install.md), else it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/progress.sh
wheels=(dist/tidemark_gpu-*.whl)
venv=.venv
[ ! -e "${wheels[0]}" ] || venv=.venv-demo

has_torch() {
  "$1" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ("torch", "transformers"))))' \
    2>/dev/null
}
python=$PWD/$venv/bin/python
if has_torch "$(command -v python || echo false)"; then python=$(command -v python); fi

# The releases of the tests.  Of NVIDIA's packages only cuDNN is wanted, which knows the workspaces of convolutions.
environment() {
  [ -x $venv/bin/python ] || /usr/bin/python3 -m venv $venv
  local install=($venv/bin/pip install --quiet --disable-pip-version-check)
  [ ! -e "${wheels[0]}" ] || "${install[@]}" --no-index --force-reinstall "${wheels[0]}"
  if [ "$python" = "$PWD/$venv/bin/python" ] && ! has_torch "$python"; then
    install+=(--no-compile --constraint tools/requirements/torch-2.15.txt)
    "${install[@]}" --no-deps torch nvidia-cudnn-cu13
    "${install[@]}" transformers pillow filelock typing_extensions networkx jinja2 fsspec sympy
  fi
}

build() {   # downloads while the compiler works
  environment & local packages=$!
  tools/setup.sh --build
  wait $packages
}

rm -f $log
if [ -e "${wheels[0]}" ]; then
  tidemark=$venv/bin/tidemark
  with_progress "downloading torch (1 GB, about a minute)" environment
else
  tidemark=build/release/apps/cli/tidemark
  tools/setup.sh --packages
  echo "compiling 70 files and downloading torch (1 GB): 3 to 6 minutes on 2 cores, log in $log"
  with_progress compiling build
  # Kept in the build folder, where tools/test.sh takes it from.
  $tidemark prepare --python "$python" --ship build/release/extensions >/dev/null ||
    echo "the extension is not kept in build/release/extensions: the run below compiles it for itself"
fi
reports=build/demo
mkdir -p $reports
$tidemark run --gpu h100-80gb --json $reports/run.json -- \
  "$python" examples/llava_pretrain.py --batch 16 --sequence 1024 --checkpointing
# Of the same releases: `predict` takes those of the Python that is first on PATH.
VIRTUAL_ENV= PATH=$(dirname "$python"):$PATH $tidemark predict --quiet --json $reports/predict.json \
  --spec examples/llava_pretrain.yaml
"$python" tools/demo_table.py $reports/run.json $reports/predict.json
