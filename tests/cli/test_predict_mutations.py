"""Whatever stands in a config, predict answers or says what is wrong: never a bug, a signal, or a peak above what is reserved."""

import copy
import json
import pathlib
import random

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "fuzz" / "corpus" / "predict"
VALUES = [0, 1, -1, 3, 7, 10**6, 2**62, 0.5, "x", None, [], {}]
MUTATIONS = 150


def places(config, path=()):
    for key, value in config.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from places(value, (*path, key))


def mutated(spec, choice):
    spec = copy.deepcopy(spec)
    *folders, key = choice.choice([place for place in places(spec) if place[-1] not in ("gpu", "model", "model_type")])
    at = spec
    for folder in folders:
        at = at[folder]
    at[key] = choice.choice(VALUES)
    return spec


def test_mutations(tidemark, folders):
    choice = random.Random(1)
    corpus = [json.loads(path.read_text()) for path in sorted(CORPUS.glob("*.json"))]
    for _ in range(MUTATIONS):
        spec = mutated({"gpu": "h200", **choice.choice(corpus), "steps": 1}, choice)
        (folders / "work" / "s.json").write_text(json.dumps(spec))
        done = tidemark("predict", "--spec", "s.json", "--json", "r.json")
        assert done.returncode in (0, 1, 2, 3), (spec, done.stderr)
        if done.returncode < 2:
            peak = json.loads((folders / "work" / "r.json").read_text())["peak"]
            assert 0 <= peak["allocated_bytes"] <= peak["reserved_bytes"], spec
