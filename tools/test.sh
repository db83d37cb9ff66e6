#!/usr/bin/env bash
# Runs tests; installs and builds what they need before that.  CONTRIBUTING.md has the groups and their times.
#   tools/test.sh                  the default level: one torch, one transformers
#   tools/test.sh fast             without torch, about a minute after the build
#   tools/test.sh all              every test of every group, with every release
#   tools/test.sh GROUP ...        every test of these groups
#   tools/test.sh changed [BASE]   the default level of the groups that a change touches (BASE: main)
set -euo pipefail
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || tools/setup.sh --packages
exec python3 tools/testing/run.py "$@"
