"""The mark `slow("what the test alone proves", keep=[...])`, by which a test is left to `tools/test.sh all`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Takes the mark from the cases that `keep` names by their parameters' id."""
    for item in items:
        case = getattr(item, "callspec", None)
        item.own_markers = [mark for mark in item.own_markers if mark.name != "slow" or case is None or case.id not in mark.kwargs.get("keep", ())]
