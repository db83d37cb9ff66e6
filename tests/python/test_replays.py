"""The GPUs on which a recorded run is replayed, without a replay."""

from pathlib import Path

import pytest
from tidemark.inside import replays


@pytest.mark.parametrize("way, descend", [(replays.UPWARDS, 0), (replays.DOWNWARDS, 1)])
@pytest.mark.parametrize("of_the_run", [0, 1])
def test_replayed_gpu_differs_in_addresses_alone(way, descend, of_the_run, tmp_path, monkeypatch):
    card = tmp_path / "card"
    card.write_text(f"name=a GPU\naddresses_descend={of_the_run}\ntotal_bytes=7\ndevices=8\n")
    monkeypatch.setenv("TIDEMARK_CARD", str(card))
    lines = Path(replays._card(tmp_path, way)).read_text().splitlines()
    assert lines == ["name=a GPU", "total_bytes=7", f"addresses_descend={descend}"]
