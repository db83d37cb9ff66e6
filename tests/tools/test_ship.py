"""tools/capture/ship.py: the order of a family's programs."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/capture"), str(ROOT / "python")]
import compare
import ship


def program(name, condition="padding == false"):
    return f"tidemark-program 1\nmodel_type {name}\nholds {condition}\n\nmodules Model\n"


def test_added_ways_stand_before_programs_of_text():
    there = f"{program('usual')}\n{program('text', 'images == 0')}"
    more = f"{program('way')}\n{program('text of way', 'images == 0')}"
    found = ship.with_more(there, more)
    names = ["usual", "way", "text", "text of way"]
    assert [text.split("\n")[1] for text in found.split("tidemark-program 1")[1:]] == [f"model_type {name}" for name in names]
    assert found.endswith("modules Model\n") and ship.with_more(found, program("way")) == found


def test_programs_of_text_have_the_keys_of_their_way():
    assert compare.published("mistral3", 1) == compare.published("mistral3", 3) != compare.published("mistral3", 0)
