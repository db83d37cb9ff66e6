#!/usr/bin/env bash
# The main jobs on real input, from a machine without a GPU: LLaVA-1.5-7B projector pre-training, run on a virtual H100 by the real PyTorch, then
# predicted from its configuration alone.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh
PATH="$PWD/.venv/bin:$PATH" build/release/apps/cli/tidemark run --gpu h100-80gb -- python examples/llava_pretrain.py --batch 16 --sequence 1024 --checkpointing
build/release/apps/cli/tidemark predict --spec examples/llava_pretrain.yaml
