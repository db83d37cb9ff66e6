"""One rank of torchtitan's pretrainings that commit messages and its benchmarks report: FSDP over all cards, per parameter (FSDP2) or flat (FSDP1), alone or with tensor
or context parallelism, parameters in fp32, computation in bf16 or float8.

    torchrun --nproc-per-node 8 torchtitan.py EXPERIMENT [--checkpointing none|full|2|op] [--batch N] [--sequence N] [--fsdp1] [--tp N | --cp N]
             [--compile] [--float8 [--gathered]]

What train.py and parallelize_*.py of pytorch/torchtitan do at the commit that EXPERIMENTS names (torchtitan_model.py), in our words.  What differs: weights are left as
they come, tokens are made up, losses are not averaged over ranks for the log.
"""

import argparse
import collections
import contextlib
import gc
import os

import torch
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import enable_wrap, wrap
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module
from torch.distributed.tensor.parallel import ColwiseParallel, ParallelStyle, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
from torchtitan_model import EXPERIMENTS, Transformer

STEPS = 20
aten = torch.ops.aten
# max since December 2024, for the scales of float8.
SAVED = {aten.mm.default, aten._scaled_dot_product_efficient_attention.default, aten._scaled_dot_product_flash_attention.default, torch.ops._c10d_functional.reduce_scatter_tensor.default, aten.max.default}


def every_second_product(saved_operations):
    """Saves attention, reduce-scatter and every other matrix product; the rest is computed again."""

    def contexts():
        counts = collections.Counter()

        def policy(context, func, *args, **kwargs):
            if func == aten.mm.default:
                counts[context.is_recompute] += 1
            saved = func in saved_operations and not (func == aten.mm.default and counts[context.is_recompute] % 2 == 0)
            return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return contexts


def checkpointed(block, number, mode):
    """`2` is every other block, the second first."""
    if mode == "none" or mode == "2" and number % 2 == 0:
        return block
    saved = SAVED | {aten.abs.default} if block.c.get("saves_abs") else SAVED
    options = {"context_fn": every_second_product(saved)} if mode == "op" else {}
    return checkpoint_wrapper(block, preserve_rng_state=False, **options)  # not reentrant by default


def sharded_flat(model, mode):
    """FSDP1, as the parent of 83c879f18 has it."""
    settings = {
        "mixed_precision": MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32),
        "sharding_strategy": ShardingStrategy.FULL_SHARD,
        "backward_prefetch": BackwardPrefetch.BACKWARD_PRE,
        "use_orig_params": True,
        "device_mesh": init_device_mesh("cuda", (torch.distributed.get_world_size(),)),
        "param_init_fn": lambda module: module.to_empty(device="cuda", recurse=False),
    }
    with enable_wrap(wrapper_cls=FullyShardedDataParallel, **settings):
        for number, (name, block) in enumerate(list(model.layers.items())):
            model.layers[name] = wrap(checkpointed(block, number, mode))
        return wrap(model)


class ReplicatedNorm(ParallelStyle):
    """NoParallel of September 2025: the parameters are DTensors, and what comes out, sharded or not, is gathered."""

    def _apply(self, module, device_mesh):
        def gathered(part, outputs, mesh):
            return outputs if outputs.placements == (Replicate(),) else outputs.redistribute(placements=(Replicate(),), async_op=True)

        def as_dtensor(part, inputs, mesh):
            return tuple(x if isinstance(x, DTensor) else DTensor.from_local(x, mesh, (Replicate(),), run_check=False) for x in inputs[:1]) + inputs[1:]

        return distribute_module(module, device_mesh, None, as_dtensor, gathered)


def over_tensor_ranks(model, mesh):
    """Qwen 3's plan at d66b72a6a: sequence parallel norms, heads and hidden features split, the loss over a split vocabulary."""
    parallelize_module(
        model, mesh, {"tok_embeddings": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "norm": SequenceParallel(), "output": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)}
    )
    for block in model.layers.values():
        parallelize_module(
            block,
            mesh,
            {
                "attention_norm": SequenceParallel(),
                "attention": PrepareModuleInput(input_layouts=(Shard(1), Replicate()), desired_input_layouts=(Replicate(), Replicate())),
                "attention.wq": ColwiseParallel(use_local_output=False),
                "attention.wk": ColwiseParallel(use_local_output=False),
                "attention.wv": ColwiseParallel(use_local_output=False),
                "attention.q_norm": ReplicatedNorm(),
                "attention.k_norm": ReplicatedNorm(),
                "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
                "ffn_norm": SequenceParallel(),
                "feed_forward": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
                "feed_forward.w1": ColwiseParallel(),
                "feed_forward.w2": RowwiseParallel(output_layouts=Shard(1)),
                "feed_forward.w3": ColwiseParallel(),
            },
        )


def in_float8(model, gathered):
    """Every linear layer but the head; scales are of a tensor, made anew each time."""
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training

    convert_to_float8_training(model, config=Float8LinearConfig(enable_fsdp_float8_all_gather=gathered), module_filter_fn=lambda module, name: name != "output")


def sharded(model, mode, mesh, compiled):
    settings = {"mesh": mesh, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    groups, last = model.c["groups"], len(model.layers) - 1
    if groups:
        fully_shard(model.tok_embeddings, **settings, reshard_after_forward=True)
    for number, (name, block) in enumerate(list(model.layers.items())):
        block = checkpointed(block, number, mode)
        if compiled:
            block = torch.compile(block, fullgraph=True)
        # Without groups for embeddings and head, the last block is the one that FSDP would gather again at once.
        model.layers[name] = fully_shard(block, **settings, reshard_after_forward=groups or number < last)
    if groups:
        fully_shard([model.norm, model.output], **settings, reshard_after_forward=False)
    return fully_shard(model, **settings)


def over_context_ranks(mesh, tokens, labels, model):
    """Each rank has its part of the sequence; keys and values of the others are gathered at once (rotate method allgather, the default)."""
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental._attention import set_rotate_method

    set_rotate_method("allgather")
    return context_parallel(mesh, buffers=[tokens, labels, model.angles], buffer_seq_dims=[1, 1, 0], no_restore_buffers={tokens, labels})


def context(arguments, mesh, tokens, labels, model):
    stack = contextlib.ExitStack()
    if arguments.tp > 1:
        stack.enter_context(loss_parallel())
    if arguments.cp > 1:
        stack.enter_context(sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]))
        stack.enter_context(over_context_ranks(mesh["cp"], tokens, labels, model))
    return stack


def loss_of(c, logits, labels):
    return F.cross_entropy(logits.flatten(0, 1) if c["keeps_logits"] else logits.flatten(0, 1).float(), labels.flatten(0, 1))


def clip(c, model, flat):
    if flat:
        model.clip_grad_norm_(1.0)
        return
    parameters = list(model.parameters())
    total = torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None], 2.0, False, True)
    torch.nn.utils.clip_grads_with_norm_(parameters, 1.0, total.full_tensor() if c["qwen"] else total, True)  # 2025: gathered first


def train(c, model, arguments, mesh):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, **({"fused": True} if c["fused"] else {"foreach": True}))
    for _ in range(STEPS):
        tokens, labels = torch.randint(0, c["vocabulary"], (2, c["batch"], c["sequence"]))
        tokens, labels = tokens.cuda(), labels.cuda()
        optimizer.zero_grad()
        with context(arguments, mesh, tokens, labels, model):
            logits = model(tokens)
            loss = loss_of(c, logits, labels)
            if not c["keeps_logits"]:
                del logits
            loss.backward()
        clip(c, model, arguments.fsdp1)
        optimizer.step()
        if arguments.gathered:
            from torchao.float8 import precompute_float8_dynamic_scale_for_fsdp

            precompute_float8_dynamic_scale_for_fsdp(model)
        print("peak active", torch.cuda.memory_stats()["active_bytes.all.peak"])


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--checkpointing", choices=["none", "full", "2", "op"], default="full")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--sequence", type=int)
    parser.add_argument("--fsdp1", action="store_true")
    parser.add_argument("--tp", type=int, default=1, help="ranks of tensor parallelism")
    parser.add_argument("--cp", type=int, default=1, help="ranks of context parallelism")
    parser.add_argument("--compile", action="store_true", help="each block")
    parser.add_argument("--float8", action="store_true")
    parser.add_argument("--gathered", action="store_true", help="weights are gathered in float8, their scales made beforehand")
    return parser.parse_args()


def made_mesh(arguments):
    """Dimensions of one rank are left out; parameters are sharded over data and context ranks alike."""
    world = torch.distributed.get_world_size()
    sizes = {"dp": world // arguments.tp // arguments.cp, "cp": arguments.cp, "tp": arguments.tp}
    names = tuple(name for name, size in sizes.items() if size > 1)
    mesh = init_device_mesh("cuda", tuple(sizes[name] for name in names), mesh_dim_names=names)
    mesh[tuple(name for name in names if name != "tp")]._flatten(mesh_dim_name="fsdp")
    return mesh


def main():
    arguments = parsed()
    c = dict(EXPERIMENTS[arguments.experiment])
    c.update({key: getattr(arguments, key) for key in ("batch", "sequence") if getattr(arguments, key)})
    gc.disable()  # as train.py does; it collects every 10 or 50 steps
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    with torch.device("meta"):
        model = Transformer(c)
    if arguments.float8:
        in_float8(model, arguments.gathered)
    mesh = None
    if arguments.fsdp1:
        model = sharded_flat(model, arguments.checkpointing)
    else:
        mesh = made_mesh(arguments)
        if arguments.tp > 1:
            over_tensor_ranks(model, mesh["tp"])
        model = sharded(model, arguments.checkpointing, mesh["fsdp"], arguments.compile)
        model.to_empty(device="cuda")
    train(c, model, arguments, mesh)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
