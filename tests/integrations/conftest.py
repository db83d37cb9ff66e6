"""What integrations/ holds, run as a process beside the built command."""

import json

import pytest
from integrating import SMALL


@pytest.fixture
def spec(tmp_path):
    """spec(name, **keys) -> the name of a spec file in the test's folder"""

    def write(name="spec.json", **keys):
        (tmp_path / name).write_text(json.dumps({"model": SMALL, "batch": 2, "seq": 128, **keys}))
        return name

    return write
