"""Where things lie, for the tests of integrations/."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK_BIN", str(ROOT / "build/release/apps/cli/tidemark"))
# An environment with what is integrated with: tools/requirements/integrations.txt.
PYTHON = os.environ.get("TIDEMARK_INTEGRATIONS", str(ROOT / ".venv-integrations/bin/python"))
SMALL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 1024}


def has(package):
    """Whether that environment has a package."""
    return bool(list(pathlib.Path(PYTHON).parents[1].glob(f"lib/python*/site-packages/{package}")))
