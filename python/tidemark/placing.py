"""Which of a cluster's cards a training fits on, and how many it takes: what a scheduler has to know."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Mapping

from . import core, errors, places, predicting
from .reports import Report


@dataclasses.dataclass(frozen=True)
class Placement:
    """`ranks` GPUs, `ranks_per_node` of one node; `reports` has an answer of every rank for each kind of card, by its name in the cluster."""

    reports: dict
    ranks: int
    ranks_per_node: int

    @property
    def nodes(self):
        return -(-self.ranks // self.ranks_per_node)

    @property
    def fitting(self):
        """Names of cards on which every rank fits, in the order in which they were given."""
        return [name for name, report in self.reports.items() if report.fits is True]

    @property
    def refused(self):
        """{name: verdict} of the others."""
        return {name: report.verdict for name, report in self.reports.items() if report.fits is not True}


def place(spec, cards):
    """`spec` is a file or a mapping with the keys of docs/reference/spec.md, its `gpu` apart; `cards` {the cluster's name: a card of `tidemark gpus`, or a file}.

    Raises tidemark.Error for what is wrong or not known.  That it fits on no card is an answer.
    """
    if not cards:
        raise errors.Error("bad_value", "there is no card to look at", "cards", '{"H100": "h100-80gb"}, or what else the cluster has')
    reports = {name: _report(spec, card) for name, card in cards.items()}
    rank = next(iter(reports.values())).to_dict().get("rank") or {"ranks": 1, "ranks_per_node": 1}
    return Placement(reports, rank["ranks"], min(rank["ranks"], rank["ranks_per_node"]))


def cards_of(name):
    """The cards ({"key", "name", "total_bytes"}) that a cluster may mean by a name such as H100 or RTX-PRO-6000, smallest first: those that have it in NVIDIA's name."""
    wanted = _words(name)
    cards = json.loads(core.ask("describe", {}))["cards"]
    found = [card for card in cards if any(_words(card["name"])[at : at + len(wanted)] == wanted for at in range(len(_words(card["name"]))))]
    return sorted(found, key=lambda card: card["total_bytes"])


def _words(name):
    return name.upper().replace("-", " ").split()


def _report(spec, card):
    if isinstance(spec, Mapping):
        if "model" not in spec:
            raise errors.Error("bad_value", "it says no model", "spec", "model: config.json, its folder, a name on the hub, or its content")
        return predicting.predict(spec["model"], all_ranks=True, **{**{key: value for key, value in spec.items() if key != "model"}, "gpu": card})
    # A file may be YAML, which the standard library does not read.
    words = ["predict", "--spec", os.fspath(spec), "--gpu", card, "--all-ranks", "--quiet", "--json", "-"]
    done = subprocess.run([places.launcher(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=predicting.environment())
    if done.returncode not in (0, 1) or not done.stdout:
        raise predicting.error_in(done, {})
    return Report.from_text(done.stdout)
