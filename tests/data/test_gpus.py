"""data/gpus.json: its form, its sources, and whether its figures are physically possible."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = json.loads((ROOT / "data" / "gpus.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "docs" / "reference" / "gpu-card.schema.json").read_text(encoding="utf-8"))
CARDS = CATALOGUE["cards"]
CARD_SCHEMA = SCHEMA["$defs"]["card"]

# CUDA C++ Programming Guide, technical specifications per compute capability.
# threads and shared memory per multiprocessor, shared memory per block (opt-in), fp32 lanes per multiprocessor
LIMITS = {
    (6, 0): (2048, 64 * 1024, 48 * 1024, 64),
    (6, 1): (2048, 96 * 1024, 48 * 1024, 128),
    (7, 0): (2048, 96 * 1024, 96 * 1024, 64),
    (7, 5): (1024, 64 * 1024, 64 * 1024, 64),
    (8, 0): (2048, 164 * 1024, 163 * 1024, 64),
    (8, 6): (1536, 100 * 1024, 99 * 1024, 128),
    (8, 7): (1536, 164 * 1024, 163 * 1024, 128),
    (8, 9): (1536, 100 * 1024, 99 * 1024, 128),
    (9, 0): (2048, 228 * 1024, 227 * 1024, 128),
    (10, 0): (2048, 228 * 1024, 227 * 1024, 128),
    (10, 3): (2048, 228 * 1024, 227 * 1024, 128),
    (12, 0): (1536, 100 * 1024, 99 * 1024, 128),
    (12, 1): (1536, 100 * 1024, 99 * 1024, 128),
}
MEASURED_TOTALS = {"rtx-3060-12gb": 12622168064, "rtx-4060-8gb": 8318222336, "a100-40gb": 42474471424}

each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card["key"])


def context_range(card):
    context = card["context_bytes"]
    return (context["low"], context["typical"], context["high"]) if isinstance(context, dict) else (context,) * 3


def test_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(CATALOGUE, SCHEMA)
    jsonschema.validate(CARDS[0], SCHEMA)  # a card alone, as in a user's own file
    broken = dict(CARDS[0], total_bytes="80 GB")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_catalogue():
    assert CATALOGUE["schema"] == "tidemark.gpus/1"
    assert len(CARDS) >= 30


def test_keys_and_aliases_name_one_card():
    names = [name for card in CARDS for name in (card["key"], *card["aliases"])]
    assert sorted(names) == sorted(set(names))
    assert all(name == name.lower() and " " not in name and "_" not in name for name in names)


def test_name_and_size_tell_cards_apart():
    names = [(card["name"], card["nominal_gib"]) for card in CARDS]
    assert sorted(names) == sorted(set(names))


@each_card
def test_has_every_field_and_no_other(card):
    assert set(card) == set(CARD_SCHEMA["required"])


@each_card
def test_every_figure_has_a_source(card):
    assert set(card["sources"]) >= set(CARD_SCHEMA["properties"]["sources"]["required"])
    for group, source in card["sources"].items():
        assert len(source) >= 8, group
        assert "://" not in source, group


@each_card
def test_an_estimated_total_is_not_called_exact(card):
    inexact = card["sources"]["total_bytes"].startswith(("estimated", "MiB", "GiB"))
    assert card["total_bytes_exact"] != inexact


@each_card
def test_total_is_a_little_under_the_nominal_size(card):
    assert 0.90 <= card["total_bytes"] / (card["nominal_gib"] << 30) <= 1.0


@each_card
def test_context_and_reserve_leave_the_card_usable(card):
    low, typical, high = context_range(card)
    assert 0 < low <= typical <= high < 2 << 30
    assert high + card["driver_reserved_bytes"] < card["total_bytes"] / 5


@each_card
def test_typical_context_follows_the_resident_threads(card):
    stacks = 2048 * card["multiprocessors"] * card["max_threads_per_multiprocessor"]
    _, typical, _ = context_range(card)
    assert 0.9 * stacks <= typical <= 1.25 * stacks + (32 << 20)


@each_card
def test_limits_match_the_compute_capability(card):
    threads, shared, optin, _ = LIMITS[tuple(card["compute_capability"])]
    assert card["max_threads_per_multiprocessor"] == threads
    assert card["shared_memory_per_multiprocessor_bytes"] == shared
    assert card["shared_memory_per_block_optin_bytes"] == optin
    assert card["shared_memory_per_block_bytes"] == 48 * 1024
    assert card["registers_per_multiprocessor"] == 64 * 1024


@each_card
def test_bandwidth_is_clock_times_width(card):
    computed = 2 * card["memory_clock_khz"] * 1000 * card["memory_bus_bits"] / 8
    assert card["memory_bandwidth_bytes_per_s"] == pytest.approx(computed, rel=0.03)


@each_card
def test_rates_are_possible(card):
    lanes = LIMITS[tuple(card["compute_capability"])][3]
    computed = 2 * lanes * card["multiprocessors"] * card["clock_khz"] * 1000
    assert card["fp32_flops"] == pytest.approx(computed, rel=0.01)
    has_bf16 = card["compute_capability"][0] >= 8
    assert (card["bf16_flops"] > 0) == has_bf16
    assert card["bf16_flops"] in (0, card["fp16_flops"])
    if has_bf16:
        assert 1.9 <= card["bf16_flops"] / card["fp32_flops"] <= 33


@each_card
def test_link(card):
    low, high = {"nvlink": (80e9, 900e9), "pcie": (15e9, 64e9)}[card["link"]["kind"]]
    assert low <= card["link"]["bytes_per_s"] <= high
    assert card["link"]["bytes_per_s"] < card["memory_bandwidth_bytes_per_s"]


@pytest.mark.parametrize("key, total_bytes", MEASURED_TOTALS.items())
def test_measured_totals_stay(key, total_bytes):
    card = next(card for card in CARDS if card["key"] == key)
    assert card["total_bytes"] == total_bytes and card["total_bytes_exact"]
