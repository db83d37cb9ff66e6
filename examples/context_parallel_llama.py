"""A Llama of 1.1 B parameters that reads long samples, each split over the cards of a node: ring attention (context parallelism), gradients averaged by DDP.

tidemark run --gpu h100-80gb --gpus 4 -- torchrun --nproc-per-node 4 examples/context_parallel_llama.py --sequence 32768
"""

import argparse
import os

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import set_rotate_method
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=22)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rotate", choices=("allgather", "alltoall"), default="allgather", help="how keys and values come from other cards")
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size(),), mesh_dim_names=("cp",))
    set_rotate_method(arguments.rotate)
    torch.set_default_dtype(torch.bfloat16)
    model = LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=arguments.layers, num_attention_heads=16, num_key_value_heads=16, vocab_size=32000, max_position_embeddings=131072))
    torch.set_default_dtype(torch.float32)
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model = torch.nn.parallel.DistributedDataParallel(model.cuda().train())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = torch.randint(0, 32000, (arguments.batch, arguments.sequence + 1))

    for step in range(arguments.steps):
        input_ids, labels = tokens[:, :-1].cuda(), tokens[:, 1:].cuda()
        positions, mask = torch.arange(arguments.sequence, device="cuda").expand_as(input_ids).contiguous(), torch.ones_like(input_ids)
        buffers = [input_ids, labels, positions, mask]
        with context_parallel(mesh, buffers=buffers, buffer_seq_dims=[1] * len(buffers), no_restore_buffers=set(buffers)):  # each rank keeps its part
            loss = model(input_ids=input_ids, attention_mask=mask, position_ids=positions, labels=labels, shift_labels=labels, use_cache=False).loss
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
