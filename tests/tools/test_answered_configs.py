"""tools/answered_configs.py: the table of configurations that are answered."""

import json

from answered_configs import row_of

COMMAND = """#!/bin/sh
grep -q gpt2 "$2" || { echo "tidemark: no model type here, and /usr/bin/python3 has no torch" >&2; exit 3; }
while [ "$1" != --json ]; do shift; done
echo '{"peak": {"device_bytes": 4096}}' > "$2"
"""


def test_row_has_the_peak_or_the_reason(tmp_path):
    command, known, other = tmp_path / "tidemark", tmp_path / "gpt2.json", tmp_path / "other.json"
    command.write_text(COMMAND)
    command.chmod(0o755)
    known.write_text(json.dumps({"model_type": "gpt2"}))
    other.write_text(json.dumps({"model_type": "other"}))
    assert row_of(command, known, tmp_path) == (True, "| gpt2.json | gpt2 | 4,096 |")
    assert row_of(command, other, tmp_path) == (False, "| other.json | other | no model type here, and this Python has no torch |")
