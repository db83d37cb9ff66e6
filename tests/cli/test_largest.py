"""The largest batch, length or number of images for each line of largest/triples.tsv: it fits, the next larger one does not, and docs/largest.md says so."""

import csv
import json
import os
import pathlib
import re
import shlex

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "largest.md"
MODELS = {row["name"]: row["config"] for row in map(json.loads, (HERE / "largest" / "models.jsonl").read_text().splitlines())}
TRIPLES = list(csv.DictReader((HERE / "largest" / "triples.tsv").open(), delimiter="\t"))
RULE = "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
DECISIONS = "tensor_parallel,pipeline,context_parallel,data_parallel,offload,reshard,load,bucket_view,checkpointing,attention,optimizer_impl,allocator,micro_batch"


def beginning(triple):
    """What a line of the page begins with, up to the answer."""
    return f"| {triple['model']} | {triple['card']} | {triple['method']} | `{triple['options']}` | {triple['largest']} |"


def place(card):
    """The card, and how many of it."""
    found = re.fullmatch(r"(.+[a-z0-9])x(\d+)", card)
    return (found[1], int(found[2])) if found else (card, 1)


@pytest.fixture
def ask(tidemark, folders):
    """ask(triple, command, *options) -> exit code and JSON."""

    def run(triple, command, *options):
        (folders / "work" / "config.json").write_text(json.dumps(MODELS[triple["model"]]))
        asked = shlex.split(triple["options"])
        if asked[:1] == list(options[-2:-1]):  # said again
            asked = asked[2:]
        done = tidemark(command, "config.json", *asked, *options, "--json", "answer.json")
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, json.loads((folders / "work" / "answer.json").read_text())

    return run


def test_there_are_forty_and_the_page_has_them_all():
    assert len(TRIPLES) >= 40 and len({beginning(triple) for triple in TRIPLES}) == len(TRIPLES)
    head, table = PAGE.read_text().split(f"{RULE}\n")
    lines = {line.split(" **")[0]: line for line in table.splitlines()}
    if os.environ.get("TIDEMARK_ACCEPT"):  # lines that are new get their answers below
        PAGE.write_text("\n".join([f"{head}{RULE}", *(lines.get(beginning(triple), beginning(triple)) for triple in TRIPLES)]) + "\n")
    else:
        assert list(lines) == [beginning(triple) for triple in TRIPLES], "run once with TIDEMARK_ACCEPT=1"


SLOW = pytest.mark.slow("largest sizes on two and on eight GPUs")
CASES = [pytest.param(triple, marks=[SLOW] * triple["card"].endswith(("x2", "x8"))) for triple in TRIPLES]


@pytest.mark.parametrize("triple", CASES, ids=lambda triple: f"{triple['model']} on {triple['card']}, {triple['method']}, {triple['largest']}")
def test_the_answer_fits_and_the_next_larger_does_not(ask, triple):
    size, (card, gpus) = triple["largest"], place(triple["card"])
    code, plan = ask(triple, "plan", "--gpu", triple["card"], "--largest", size, "--fix", DECISIONS)
    assert code == 0 and "why" not in plan["largest"], plan["largest"]  # memory ends it, not a length or a number of GPUs
    largest, answer = plan["largest"], plan["answers"][0]
    peak, parts = answer["peak"], answer["spec"][size] // largest["value"]  # a pipeline takes its micro-batches at once

    ranks = ["--gpus", gpus, "--all-ranks"] if gpus > 1 else []
    code, report = ask(triple, "predict", "--gpu", card, *ranks, f"--{size}", parts * largest["value"])
    assert code == 0 and [report["peak"][key] for key in ("allocated_bytes", "reserved_bytes")] == [peak[key] for key in ("allocated_bytes", "reserved_bytes")]
    assert ask(triple, "predict", "--gpu", card, *ranks, f"--{size}", parts * largest["refused"])[0] == 1
    check_line(triple, f"{beginning(triple)} **{largest['value']:,}** | {largest['refused']:,} | {peak['allocated_bytes']:,} | {peak['reserved_bytes']:,} |")


def check_line(triple, line):
    lines = PAGE.read_text().splitlines()
    mine = [number for number, other in enumerate(lines) if other.startswith(beginning(triple))]
    assert len(mine) == 1
    if os.environ.get("TIDEMARK_ACCEPT"):  # rewrites the line
        lines[mine[0]] = line
        PAGE.write_text("\n".join(lines) + "\n")
    else:
        assert lines[mine[0]] == line, "run once with TIDEMARK_ACCEPT=1"
