#!/usr/bin/env python3
"""Starts one worker for each rank of a training, where it fits.

    placed.py SPEC [TYPE=CARD ...]     on the cluster that RAY_ADDRESS names, else on this machine alone

The workers here say where they are; yours would train.
"""

import sys

import ray
import tidemark.ray


@ray.remote
class Worker:
    def __init__(self, rank, ranks):
        self.rank, self.ranks = rank, ranks

    def where(self):
        return {"rank": self.rank, "node": ray.get_runtime_context().get_node_id(), "gpus": ray.get_gpu_ids()}


def start(spec, cards=None):
    """(resources, placement group, workers)"""
    resources = tidemark.ray.resources(spec, cards=cards)
    group = ray.util.placement_group(resources.bundles, strategy=resources.strategy)
    ray.get(group.ready())
    return resources, group, [Worker.options(**resources.worker(group, rank)).remote(rank, resources.ranks) for rank in range(resources.ranks)]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ray.init()
    try:
        resources, _, workers = start(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:]) or None)
    except tidemark.Error as error:
        sys.exit(f"tidemark: {error}")
    print(f"{resources.report.verdict}, on {resources.accelerator_type}")
    for place in ray.get([worker.where.remote() for worker in workers]):
        print(f"rank {place['rank']}: node {place['node'][:8]}, GPU {place['gpus']}")
