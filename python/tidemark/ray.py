"""What a training asks of a Ray cluster: bundles of a placement group, options of its workers, or keys of Ray Train's ScalingConfig."""

from __future__ import annotations

import dataclasses

from . import errors, placing

_TYPE = "accelerator_type:"  # as Ray names it among a node's resources (ray/_common/utils.py, RESOURCE_CONSTRAINT_PREFIX, 2.60.0)
_A_TOUCH = 0.001  # how much of it whoever asks for an accelerator_type takes (resources_from_ray_options, there)


@dataclasses.dataclass(frozen=True)
class Resources:
    """A worker for each rank: `ranks_per_node` of one node, all on cards of one type.

    group = ray.util.placement_group(resources.bundles, strategy=resources.strategy)
    workers = [Worker.options(**resources.worker(group, rank)).remote(rank) for rank in range(resources.ranks)]
    trainer = ray.train.torch.TorchTrainer(loop, scaling_config=ray.train.ScalingConfig(**resources.scaling))
    """

    ranks: int
    ranks_per_node: int
    accelerator_type: str
    report: object  # of every rank, on that card
    cpus_per_rank: float = 1

    @property
    def bundles(self):
        """One for each node."""
        sizes = [min(self.ranks_per_node, self.ranks - first) for first in range(0, self.ranks, self.ranks_per_node)]
        return [{"GPU": size, "CPU": size * self.cpus_per_rank, _TYPE + self.accelerator_type: _A_TOUCH} for size in sizes]

    @property
    def strategy(self):
        return "STRICT_SPREAD"

    def worker(self, group, rank):
        """Options of the task or actor that is rank `rank`, in a placement group of `bundles`."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        where = PlacementGroupSchedulingStrategy(placement_group=group, placement_group_bundle_index=rank // self.ranks_per_node)
        return {"num_gpus": 1, "num_cpus": self.cpus_per_rank, "scheduling_strategy": where}

    @property
    def scaling(self):
        """For ray.train.ScalingConfig, which places worker by worker: on one node where the training is of one, else packed."""
        strategy = "STRICT_PACK" if self.ranks <= self.ranks_per_node else "PACK"
        resources = {"CPU": self.cpus_per_rank, "GPU": 1}
        return {"num_workers": self.ranks, "use_gpu": True, "resources_per_worker": resources, "accelerator_type": self.accelerator_type, "placement_strategy": strategy}


def resources(spec, *, cards=None, cpus_per_rank=1):
    """The first of the cluster's cards, smallest first, on which every rank of the training fits, and of which there are enough.

    `spec` is a file or a mapping with the keys of docs/reference/spec.md.  `cards` says which cards there are: {Ray's accelerator type: a card of
    `tidemark gpus`}, in the order of preference; by default those of the cluster that `ray.init` has connected to, where of several cards that share a
    type (A100) the smallest counts.  Raises tidemark.Error: also where it fits on none of them, in the words of the verdicts.
    """
    placement = placing.place(spec, cards or _of_the_cluster())
    if not placement.fitting:
        said = "\n  ".join(f"{name}: {verdict}" for name, verdict in placement.refused.items())
        raise errors.Error("bad_value", "it fits on no card of the cluster", "spec", said)
    enough = [kind for kind in placement.fitting if cards or _has_enough(kind, placement)]
    if not enough:
        raise errors.Error("bad_value", f"the cluster has too few of {' and '.join(placement.fitting)}, on which it fits", "spec", f"nodes x GPUs: {placement.nodes} x {placement.ranks_per_node}")
    return Resources(placement.ranks, placement.ranks_per_node, enough[0], placement.reports[enough[0]], cpus_per_rank)


def _of_the_cluster():
    import ray

    kinds = [name[len(_TYPE) :] for name in ray.cluster_resources() if name.startswith(_TYPE)]
    known = {kind: found[0] for kind, found in ((kind, placing.cards_of(kind)) for kind in kinds) if found}
    if not known:
        raise errors.Error("not_found", f"no card of the cluster is known: it has {', '.join(kinds) or 'no accelerator'}", "ray", 'say which: cards={"H100": "h100-80gb"}')
    return {kind: card["key"] for kind, card in sorted(known.items(), key=lambda item: item[1]["total_bytes"])}


def _has_enough(kind, placement):
    """Whether it has them at all: whether they are free is for Ray to wait for."""
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return sum(_TYPE + kind in node and node.get("GPU", 0) >= placement.ranks_per_node for node in nodes) >= placement.nodes
