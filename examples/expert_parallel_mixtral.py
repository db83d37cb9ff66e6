"""A small Mixtral in bf16 whose experts are shared by the cards of a node: transformers' own expert parallelism.

tidemark run --gpu h100-80gb --gpus 4 -- torchrun --nproc-per-node 4 examples/expert_parallel_mixtral.py --batch 8 --sequence 2048
"""

import argparse
import os

import torch
from torch.distributed.tensor import DTensor
from transformers import MixtralConfig, MixtralForCausalLM
from transformers.distributed import DistributedConfig


def shared_by(ranks):
    """Since transformers 5.21 experts have a size of their own, and what is between them is split, too."""
    if hasattr(DistributedConfig, "ep_size"):
        return DistributedConfig(tp_size=ranks, ep_size=ranks)
    return DistributedConfig(tp_size=ranks, enable_expert_parallel=True)


def build(layers, experts, ranks):
    """As `from_pretrained(…, distributed_config=…)` does it: the experts are split before any of them has memory."""
    config = MixtralConfig(
        hidden_size=1024,
        intermediate_size=3584,
        num_hidden_layers=layers,
        num_attention_heads=16,
        num_key_value_heads=8,
        vocab_size=32000,
        num_local_experts=experts,
        num_experts_per_tok=2,
        output_router_logits=True,
    )
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = MixtralForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    if ranks > 1:
        config, _, mesh = MixtralForCausalLM.prepare_distribute_model(shared_by(ranks))
        model = MixtralForCausalLM.maybe_distribute_model(model, config, mesh)
    return model.to_empty(device="cuda").train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    model = build(arguments.layers, arguments.experts, torch.distributed.get_world_size())
    groups = [[p for p in model.parameters() if isinstance(p, DTensor) == is_split] for is_split in (True, False)]  # not to be mixed in one call
    optimizer = torch.optim.AdamW([{"params": group} for group in groups if group], lr=3e-4)
    tokens = torch.randint(0, 32000, (arguments.batch, arguments.sequence))  # the same on every rank

    for step in range(arguments.steps):
        batch = tokens.cuda()
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
