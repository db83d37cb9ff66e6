"""Run by test_ray.py in an environment that has Ray: a cluster of three nodes on this machine, and what is placed on it.  Prints JSON."""

import json
import sys

import ray
from ray.cluster_utils import Cluster

ROOT, SMALL = sys.argv[1], json.loads(sys.argv[2])
sys.path[:0] = [f"{ROOT}/python", f"{ROOT}/integrations/ray"]
import placed
import tidemark
import tidemark.ray


def placed_on(names, **keys):
    resources, group, workers = placed.start({"model": SMALL, "batch": 2, "seq": 128, **keys})
    where = ray.get([worker.where.remote() for worker in workers])
    for worker in workers:
        ray.kill(worker)
    ray.util.remove_placement_group(group)
    return {"type": resources.accelerator_type, "nodes": [names[row["node"]] for row in where], "gpus": [row["gpus"] for row in where]}


def main():
    # One node with an L4, two with four H100 each, and a type that nobody knows: Ray counts what it is told of, nothing is looked for.
    cluster, names = Cluster(), {}
    for name, gpus, kinds in (("l1", 1, ("L4", "TPU-V9")), ("h1", 4, ("H100",)), ("h2", 4, ("H100",))):
        node = cluster.add_node(num_cpus=8, num_gpus=gpus, resources={f"accelerator_type:{kind}": 1 for kind in kinds}, object_store_memory=80 << 20, include_dashboard=False)
        names[node.node_id] = name
    ray.init(address=cluster.address, logging_level="error")
    answers = {"small": placed_on(names), "large": placed_on(names, batch=12000), "two nodes": placed_on(names, gpus=6, gpus_per_node=3, parallel="zero2")}
    for name, keys in {"nowhere": {"batch": 999999}, "too many": {"gpus": 16, "gpus_per_node": 8, "parallel": "zero2"}}.items():
        try:
            answers[name] = str(tidemark.ray.resources({"model": SMALL, "seq": 128, **keys}))
        except tidemark.Error as error:
            answers[name] = str(error)
    print(json.dumps(answers))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
