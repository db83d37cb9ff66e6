"""A Llama of 1.1 B parameters, its matrices split over the cards of a node (DTensor tensor parallelism, with or without sequence parallelism).

tidemark run --gpu rtx-4090 --gpus 4 -- torchrun --nproc-per-node 4 examples/tensor_parallel_llama.py --batch 4 --sequence 2048
"""

import argparse
import os

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module
from transformers import LlamaConfig, LlamaForCausalLM


def plan_of_a_layer(sequence_parallel):
    columns, rows = ColwiseParallel, RowwiseParallel
    plan = {f"self_attn.{name}": columns() for name in ("q_proj", "k_proj", "v_proj")} | {f"mlp.{name}": columns() for name in ("gate_proj", "up_proj")}
    if not sequence_parallel:
        return plan | {"self_attn.o_proj": rows(), "mlp.down_proj": rows()}
    return plan | {
        "input_layernorm": SequenceParallel(),
        "post_attention_layernorm": SequenceParallel(),
        "self_attn": PrepareModuleInput(input_kwarg_layouts={"hidden_states": Shard(1)}, desired_input_kwarg_layouts={"hidden_states": Replicate()}),
        "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "self_attn.o_proj": rows(output_layouts=Shard(1), use_local_output=False),  # whole tensors to the model, their tokens split
        "mlp.down_proj": rows(output_layouts=Shard(1), use_local_output=False),
    }


def split(model, mesh, sequence_parallel):
    for layer in model.model.layers:
        parallelize_module(layer, mesh, plan_of_a_layer(sequence_parallel))
    if sequence_parallel:
        ends = {
            "model.embed_tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), use_local_output=False),
            "model.norm": SequenceParallel(),
            "lm_head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        }
    else:
        ends = {"model.embed_tokens": RowwiseParallel(input_layouts=Replicate()), "lm_head": ColwiseParallel(output_layouts=Replicate())}
    return parallelize_module(model, mesh, ends)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=22)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--sequence-parallel", action="store_true")
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size(),))
    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=arguments.layers, num_attention_heads=32, num_key_value_heads=8, vocab_size=32000, max_position_embeddings=4096))
    torch.set_default_dtype(torch.float32)
    model = split(model.cuda().train(), mesh, arguments.sequence_parallel)
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    groups = [[p for p in model.parameters() if isinstance(p, DTensor) == is_split] for is_split in (True, False)]  # not to be mixed in one call
    optimizer = torch.optim.AdamW([{"params": group} for group in groups if group], lr=3e-4)
    tokens = torch.randint(0, 32000, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = tokens.cuda()
        loss = model(input_ids=batch, labels=batch, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
