"""data/device_memory.json: its form, its sources, and that its figures follow from what they cite."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "data" / "device_memory.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "docs" / "reference" / "device-memory.schema.json").read_text(encoding="utf-8"))
CARDS = {card["key"]: card for card in json.loads((ROOT / "data" / "gpus.json").read_text(encoding="utf-8"))["cards"]}
NCCL = TABLE["nccl"]
MIB, GIB = 2**20, 2**30
ROUNDING = 0.01 * GIB  # two figures with two decimals, either off by half of the last


def ranges(value):
    if isinstance(value, dict):
        if set(value) == {"low", "typical", "high"}:
            yield value
        for one in value.values():
            yield from ranges(one)
    elif isinstance(value, list):
        for one in value:
            yield from ranges(one)


def beside_pytorch_and_context(row):
    return (row["in_use_gib"] - row["allocated_gib"]) * GIB - row["cached_mib"] * MIB - row["context_bytes"]


def test_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(TABLE, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**TABLE, "libraries": {"bytes": 0}}, SCHEMA)


def test_ranges_are_in_order():
    found = list(ranges(TABLE))
    assert len(found) == 2 + 2 * len(NCCL["channels"])
    assert all(0 <= one["low"] <= one["typical"] <= one["high"] for one in found)


def test_every_figure_of_nccl_has_a_source():
    figures = {key for key, value in NCCL.items() if isinstance(value, int)}
    assert set(NCCL["sources"]) == figures
    assert all(len(source) > 20 and "://" not in source for source in NCCL["sources"].values())


@pytest.mark.parametrize("row", TABLE["libraries"]["measured"], ids=lambda row: row["source"].split(";")[0].split(" in ")[-1])
def test_contexts_are_the_catalogues(row):
    context = CARDS[row["card"]]["context_bytes"]
    assert row["context_bytes"] == (context["typical"] if isinstance(context, dict) else context)
    assert not CARDS[row["card"]]["sources"]["context_bytes"].startswith("estimated")


def test_libraries_are_what_the_messages_leave():
    rows = TABLE["libraries"]["measured"]
    found, bytes_ = [beside_pytorch_and_context(row) for row in rows], TABLE["libraries"]["bytes"]
    assert bytes_["typical"] == 0  # not known
    assert abs(bytes_["low"] - max(0, min(found) - ROUNDING)) < MIB
    assert abs(bytes_["high"] - (max(found) + ROUNDING)) < MIB


def test_buffers_are_nccls_products():
    assert NCCL["ll_bytes"] == 8 * 512 * 8 * 16
    assert NCCL["ll128_bytes"] == 120 * 640 * 8 * 8
    assert NCCL["simple_bytes"] == 1 << 22
    assert NCCL["shared_network_bytes"] == 16 * (128 << 10)
    assert NCCL["nvls_bytes"] == 2 * (128 << 10) * 8


def test_a_connection_takes_what_nccl_logs():
    """NVIDIA/nccl issue 1685: allocations of 10485760 and of 2097152 bytes."""
    page = NCCL["granularity_bytes"]
    whole = NCCL["control_bytes"] + NCCL["ll_bytes"] + NCCL["ll128_bytes"] + NCCL["simple_bytes"]
    assert (-(-whole // page) * page, -(-NCCL["control_bytes"] // page) * page) == (10485760, 2097152)


def test_every_link_of_a_card_is_there():
    assert {(row["link"], row["nodes"]) for row in NCCL["channels"]} == {(card["link"]["kind"], nodes) for card in CARDS.values() for nodes in ("one", "several")}
