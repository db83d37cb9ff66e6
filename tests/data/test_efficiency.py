"""data/efficiency.json: its form, its sources, and that nothing in it was measured on what step times are scored on."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "data/efficiency.json").read_text(encoding="utf-8"))
GPUS = {card["key"]: card for card in json.loads((ROOT / "data/gpus.json").read_text(encoding="utf-8"))["cards"]}
CARDS = set(GPUS)
CLASSES = [TABLE["general"], *TABLE["rows"]]
WITH_PRODUCTS = [one for one in CLASSES if "products" in one]
MEASURED = {"products", "memory", "single_products", "collectives", "within_node", "between_nodes", "host_link",
            "beside_collectives", "operation", "collective"}  # fmt: skip


def sources():
    for one in CLASSES:
        yield from (one[key]["source"] for key in MEASURED & one.keys())
        yield from (row["source"] for row in one.get("attention", []))


def repositories(text):
    return {name.lower() for name in re.findall(r"[\w.-]+/[\w.-]+(?=[@, ])", text)}


def test_cards_are_known_and_have_one_row():
    named = [card for row in TABLE["rows"] for card in row["cards"]]
    variants = {card for row in TABLE["rows"] if "variant_of" in row for card in row["cards"]}
    assert len(named) == len(set(named)) and set(named) - variants <= CARDS and not variants & CARDS


def test_every_variant_is_of_a_row_and_used():
    """No plan asks for one: rows of measured step times do."""
    corpora = (ROOT / "validation/step_times").glob("*/rows.jsonl")
    asked = {json.loads(line).get("kernels") for path in corpora for line in path.read_text(encoding="utf-8").splitlines()}
    variants = [row for row in TABLE["rows"] if "variant_of" in row]
    assert variants and {card for row in variants for card in row["cards"]} == asked - {None}


def test_every_figure_has_a_source():
    assert all(source.strip() for source in sources())
    assert MEASURED - {"collectives"} <= TABLE["general"].keys()


def test_variants_are_what_the_script_makes_of_their_rows():
    """Needs none of the tables that it reads for the others."""
    sys.path.insert(0, str(ROOT / "tools/efficiency"))
    from make import variants

    rows = [row for row in TABLE["rows"] if "variant_of" not in row]
    assert list(variants(rows, GPUS)) == TABLE["rows"][len(rows) :]


def test_grids_have_the_shape_of_the_axes():
    m, n, k = (len(TABLE["axes"][axis]) for axis in "mnk")
    for one in WITH_PRODUCTS:
        grid = one["products"]["percent"]
        assert len(grid) == m and all(len(plane) == n and all(len(line) == k for line in plane) for plane in grid)
        assert all(0 < value <= 100 for plane in grid for line in plane for value in line)


def test_a_large_product_reaches_most_of_the_peak_and_a_small_one_little():
    for one in WITH_PRODUCTS:
        grid = one["products"]["percent"]
        assert max(grid[-1][-2]) >= 60 and grid[0][0][0] < 2


def test_collectives_take_longer_for_more_bytes():
    for row in TABLE["rows"]:
        for one in row.get("collectives", {}).get("rows", []):
            assert len(one["bytes"]) == len(one["microseconds"]) and one["microseconds"][-1] > one["microseconds"][0]


def rows_of_corpora():
    paths = sorted((ROOT / "validation/step_times").glob("*/rows.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_scored_was_not_used():
    """Kernels came from some repositories and papers, and step times from others.  Of vTrain's rows those that are not scored gave two
    figures of the host: the next test."""
    of_host = {one[key]["source"] for one in TABLE["rows"] if one["cards"] == ["a100-megatron-deepspeed"] for key in ("operation", "collective")}
    assert len(of_host) == 2
    used = set().union(*map(repositories, set(sources()) - of_host))
    scored = {row["source"] for row in rows_of_corpora()}
    assert "ai-dynamo/aiconfigurator" in used and scored
    for source in scored:
        names = repositories(source)
        assert names and not names & used, source


def measured_row(number, ranks, layers, milliseconds, **spec):
    spec = {"model": {"n_embd": 1024, "n_layer": layers}, "batch": 1, "grad_accumulation": 8} | spec
    if ranks > 1:
        spec["tp"] = {"degree": ranks}
    return {"id": f"single {number}", "group": "one node", "ranked_among": f"set {number}", "seconds": 8 * milliseconds / 1000, "spec": spec}


def test_the_host_is_measured_on_rows_that_are_not_scored(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools/efficiency"))
    import host

    scored = [row for row in rows_of_corpora() if row.get("group") == "one node" and "ranked_among" in row]
    assert len(scored) > 200 and host.not_validated(scored) == []
    others = [measured_row(number, ranks, layers, 5 + (3 + ranks / 4) * layers) for number, (ranks, layers) in
              enumerate([(1, 12), (1, 24), (2, 12), (2, 16), (2, 24), (4, 12), (4, 20)])]  # fmt: skip
    others.append(measured_row(99, 1, 20, 1000, batch=8))  # fills the card
    assert host.not_validated(others + scored) == others
    operation, collective = host.host_seconds(others)
    assert operation == pytest.approx(3.25e-3 / host.OPERATIONS) and collective == pytest.approx(0.5e-3 / host.REDUCTIONS)


def test_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs/reference/efficiency.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(TABLE, schema)
