#!/usr/bin/env bash
# The main jobs on real input, from a machine without a GPU: LLaVA-1.5-7B projector pre-training, run on a virtual H100 by the real PyTorch, then
# predicted from its configuration alone.  Uses the torch and transformers of the active environment; where there are none, they are installed into
# .venv-demo.  Tidemark itself comes from dist/*.whl, where a wheel is there (docs/howto/install.md), else it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
wheels=(dist/tidemark-*.whl)

has_torch() { "$1" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ("torch", "transformers"))))' 2>/dev/null; }
python=$PWD/.venv-demo/bin/python
for there in "$(command -v python || true)" "$PWD/.venv/bin/python"; do
  if has_torch "$there"; then python=$there; break; fi
done

# The versions of the tests; of NVIDIA's packages only cuDNN is wanted, which knows the workspaces of convolutions.  Byte code is made of what is imported.
environment() {
  [ -x .venv-demo/bin/python ] || /usr/bin/python3 -m venv .venv-demo
  [ ! -e "${wheels[0]}" ] || .venv-demo/bin/pip install --quiet --disable-pip-version-check --no-index --force-reinstall "${wheels[0]}"
  if [ "$python" = "$PWD/.venv-demo/bin/python" ] && ! has_torch "$python"; then
    pinned=(.venv-demo/bin/pip install --quiet --disable-pip-version-check --no-compile --constraint tools/requirements/torch-2.11.txt)
    "${pinned[@]}" transformers pillow filelock typing_extensions networkx jinja2 fsspec sympy
    "${pinned[@]}" --no-deps torch nvidia-cudnn-cu13
  fi
}

if [ -e "${wheels[0]}" ]; then
  tidemark=.venv-demo/bin/tidemark
  environment
else
  tidemark=build/release/apps/cli/tidemark
  tools/setup.sh --packages
  environment &   # downloads while the compiler works
  tools/setup.sh --build
  wait $!
fi
$tidemark run --gpu h100-80gb -- "$python" examples/llava_pretrain.py --batch 16 --sequence 1024 --checkpointing
# Of the same releases: `predict` takes those of the Python that is first on PATH.
VIRTUAL_ENV= PATH=$(dirname "$python"):$PATH $tidemark predict --spec examples/llava_pretrain.yaml
