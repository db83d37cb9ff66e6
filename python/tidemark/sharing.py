"""A plan's search on the nodes of a Ray cluster.

The space is cut into parts, each of which is a question of its own.  What they find is asked about once more, here: the same search, among the
candidates that any part has named, so that nothing is ranked in two ways.
"""

from __future__ import annotations

import collections
import json

from . import core, errors

PARTS_PER_NODE = 4  # so that a node that is slow, or has the harder part, does not hold up all others


def check(asked, wishes):
    """Raises Error for what is not shared out."""
    for other in ("largest", "checkpointing_under"):
        if wishes.get(other):
            raise errors.Error("usage", f"what {other} asks next follows from the last answer: there is nothing to share out", "ray", "leave it out")
    if asked.is_elsewhere:
        refuse_elsewhere()


def refuse_elsewhere():
    raise errors.Error("unsupported", "the model is looked up, or captured, by the command, which shares nothing out", "ray", "give its configuration")


def over_ray(question):
    """The question about what all parts of `question` found."""
    wishes = question["plan"]
    if not wishes.get("cheapest"):
        return {**question, "share": _share(question)}
    spec = question["spec"]
    samples = wishes.get("samples") or spec.get("batch", 1) * spec.get("grad_accumulation", 1)
    of_a_card = {**{key: value for key, value in wishes.items() if key != "cheapest"}, "answers": 1, "samples": samples}
    shares = {name: _share({**question, "spec": {**spec, "gpu": name}, "plan": of_a_card}) for name in wishes["cheapest"]}
    return {**question, "shares": shares}


def _share(question):
    try:
        import ray
    except ImportError:
        raise errors.Error("not_found", "Ray is not installed here", "ray", "pip install ray") from None
    if not ray.is_initialized():
        ray.init()
    cores = [node["Resources"]["CPU"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    of = PARTS_PER_NODE * len(cores)
    # A part runs on all cores of its node, by threads of its own.
    ask = ray.remote(num_cpus=min(cores))(_found_by)
    asked = ray.put({**question, "with_text": False})
    return merged(ray.get([ask.remote(asked, part, of) for part in range(of)]))


def _found_by(question, part, of):
    """Runs on a node.  An error comes back as a value: Ray would wrap it."""
    try:
        return json.loads(core.ask("plan", {**question, "share": {"part": part, "of": of}}))
    except errors.Error as error:
        return error


def merged(parts):
    """What the parts have found, and counted."""
    for part in parts:
        if isinstance(part, Exception):
            raise part
    refusals = collections.Counter()
    for part in parts:
        refusals.update(part["not_simulated"])
    named = {row["number"] for part in parts for row in [*part["answers"], *part["refused"], *([part["least"]] if "least" in part else [])]}
    return {"numbers": sorted(named), "candidates": sum(part["candidates"] for part in parts), "simulated": sum(part["simulated"] for part in parts), "refusals": dict(sorted(refusals.items()))}
