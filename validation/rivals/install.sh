#!/usr/bin/env bash
# The rivals, in an environment of their own (.venv-rivals in the root of the project): nothing of Tidemark needs it.  Run again, it does only what is not done.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=.venv-rivals
list=validation/rivals/requirements.txt
if ! cmp -s "$list" "$folder/.requirements" 2>/dev/null; then
  [ -x "$folder/bin/python" ] || /usr/bin/python3 -m venv "$folder"
  # Of all these only DeepSpeed comes as source; built apart from the environment, it does not look for a CUDA toolkit there.
  DS_BUILD_OPS=0 "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --use-pep517 -r "$list"
  cp "$list" "$folder/.requirements"
fi
# The older of the published runs were made with this transformers (validation/xmem/README.md says how that is known).
[ -d "$folder/transformers-4.51" ] || "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$folder/transformers-4.51" transformers==4.51.3
