"""A language model of transformers on a mesh of up to four dimensions, laid as torchtitan lays it: pipelines (pp), copies (dp_replicate),
shards (dp_shard), parts of matrices (tp).  Neighbours share matrices.

    tidemark run --gpu h100-80gb --gpus 8 -- torchrun --nproc-per-node 8 examples/mesh_transformers.py llama-3-8b/config.json --tp 2 --replicate 2
    tidemark run --gpu h100-80gb --gpus 16 --all-ranks -- torchrun --nproc-per-node 16 examples/mesh_transformers.py llama-3-8b/config.json --pp 2 --tp 4
"""

import argparse
import copy
import json
import os

import torch
import transformers
from torch.distributed import pipelining
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

try:
    from transformers.initialization import no_init_weights
except ImportError:  # before transformers 5
    from transformers.modeling_utils import no_init_weights


class Stage(torch.nn.Module):
    """A copy of the model with some of its layers; nn.Identity stands for what other stages have before and behind them."""

    def __init__(self, model, index, count):
        super().__init__()
        self.whole = copy.deepcopy(model)
        text = self.whole.model
        share, more = divmod(len(text.layers), count)
        start = index * share + min(index, more)
        text.layers = torch.nn.ModuleList(text.layers[start : start + share + (index < more)])
        if index > 0:
            text.embed_tokens = torch.nn.Identity()
        if index < count - 1:
            text.norm = self.whole.lm_head = torch.nn.Identity()

    def forward(self, input_ids, **more):
        return self.whole(input_ids=input_ids, **more).logits


def split(model, mesh):
    """Attention, MLP, embedding and head in parts; norms are whole everywhere."""
    columns, rows = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"), ("self_attn.o_proj", "mlp.down_proj")
    plan = {**{f"model.layers.*.{name}": ColwiseParallel() for name in columns}, **{f"model.layers.*.{name}": RowwiseParallel() for name in rows}}
    if isinstance(model.model.embed_tokens, torch.nn.Embedding):  # not on this stage
        plan["model.embed_tokens"] = RowwiseParallel(input_layouts=Replicate())
    if isinstance(model.lm_head, torch.nn.Linear):
        plan["lm_head"] = ColwiseParallel(output_layouts=Replicate())
    parallelize_module(model, mesh, plan)


def shard(model, layers, mesh, reshard_after_forward):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard_after_forward)
    return fully_shard(model, mesh=mesh, mp_policy=policy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--pp", type=int, default=1)
    parser.add_argument("--replicate", type=int, default=1)
    parser.add_argument("--tp", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    shards = torch.distributed.get_world_size() // (arguments.pp * arguments.replicate * arguments.tp)
    mesh = init_device_mesh("cuda", (arguments.pp, arguments.replicate, shards, arguments.tp), mesh_dim_names=("pp", "dp_replicate", "dp_shard", "tp"))
    config = transformers.AutoConfig.for_model(**json.load(open(arguments.config)))
    with no_init_weights():
        model = transformers.AutoModelForCausalLM.from_config(config, torch_dtype=torch.float32).train()
    index, count = mesh["pp"].get_local_rank(), arguments.pp
    if count > 1:
        part = Stage(model, index, count).to("cuda")
        whole = part.whole
    else:
        part = whole = model.to("cuda")
    if arguments.tp > 1:
        split(whole, mesh["tp"])
    # For every micro-batch a gather of its own would cost too much: torchtitan's policy for stages.
    part = shard(part, whole.model.layers, mesh["dp_replicate", "dp_shard"], reshard_after_forward=count == 1)
    is_split = [len(p.placements) == 3 for p in part.parameters()]  # one call of a foreach function takes tensors on one mesh
    groups = [[p for p, kind in zip(part.parameters(), is_split) if kind == wanted] for wanted in (True, False)]
    optimizer = torch.optim.AdamW([{"params": group} for group in groups if group], lr=3e-4)
    if count > 1:
        stage = pipelining.PipelineStage(part, index, count, torch.device("cuda", torch.cuda.current_device()), group=mesh["pp"].get_group())
        schedule = pipelining.Schedule1F1B(stage, arguments.microbatches, loss_fn=lambda logits, labels: model.loss_function(logits=logits, labels=labels, vocab_size=config.vocab_size))
    tokens = torch.full((arguments.batch, arguments.sequence), 5)
    rows = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
    wanted = {"attention_mask", *(["input_ids"] if index == 0 else []), *(["labels"] if index == count - 1 else [])}

    for step in range(arguments.steps):
        batch = {name: row.to("cuda") for name, row in rows.items() if name in wanted}
        if count > 1:
            inputs = [batch.pop("input_ids")] if index == 0 else []
            schedule.step(*inputs, target=batch.pop("labels", None), **batch)
            del inputs
        else:
            loss = part(**batch).loss
            loss.backward()
            del loss
        del batch
        optimizer.step()
        optimizer.zero_grad()
        print(f"rank {torch.distributed.get_rank()}: step {step}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
