#!/usr/bin/env bash
# The main job on real input: LLaVA-1.5-7B projector pre-training on a virtual H100, from a machine without a GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh
PATH="$PWD/.venv/bin:$PATH" build/release/apps/cli/tidemark run --gpu h100-80gb -- python examples/llava_pretrain.py --batch 16 --sequence 1024 --checkpointing
