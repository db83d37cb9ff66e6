"""Context parallelism for record_steps.py: what transformers' Trainer does with a batch (5.17.0: Trainer._prepare_context_parallel_inputs)."""

import contextlib
import os


def cp_mesh(spec):
    """The GPUs that share the tokens of a sample are neighbours, as in the meshes of torchtitan and accelerate; one alone shares with nobody (cp_enabled)."""
    if spec.get("cp", {"degree": 1})["degree"] == 1:
        return None
    import torch
    from torch.distributed.tensor.experimental._attention import _cp_options, set_rotate_method

    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("nccl", rank=int(os.environ.get("RANK", 0)), world_size=spec["gpus"], store=None if "RANK" in os.environ else torch.distributed.HashStore())
    degree = spec["cp"]["degree"]
    set_rotate_method(spec["cp"].get("rotate_method", "allgather"))
    _cp_options.enable_load_balance = spec["cp"].get("load_balance", True)
    return torch.distributed.init_device_mesh("cuda", (spec["gpus"] // degree, degree), mesh_dim_names=("dp", "cp"))["cp"]


def add_positions(batch):
    import torch

    if "shift_labels" not in batch:
        labels = torch.nn.functional.pad(batch["labels"], (0, 1), value=-100)
        batch["shift_labels"] = labels[:, 1:].contiguous()
    batch["position_ids"] = torch.arange(batch["input_ids"].size(1), device=batch["input_ids"].device).expand(batch["input_ids"].size(0), -1)
    return [batch[name] for name in ("input_ids", "labels", "shift_labels", "attention_mask", "position_ids")]


def tokens_split(batch, spec, mesh):
    """The context of a forward and a backward pass, which leaves this rank's tokens in the batch."""
    from torch.distributed.tensor.experimental import context_parallel

    if mesh is None:
        return contextlib.nullcontext()
    buffers = add_positions(batch)
    kept = set() if spec["cp"].get("restore_buffers", False) else set(buffers)
    return context_parallel(mesh, buffers=buffers, buffer_seq_dims=[1] * len(buffers), no_restore_buffers=kept)
