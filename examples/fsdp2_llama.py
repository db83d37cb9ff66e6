"""A Llama of 1.1 B parameters under FSDP2 (`fully_shard`): parameters, gradients and states are shards, gathered layer by layer.

tidemark run --gpu a100-40gb --gpus 8 -- torchrun --nproc-per-node 8 examples/fsdp2_llama.py --batch 4 --sequence 2048
"""

import argparse
import os

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=22)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--keep-gathered", action="store_true", help="do not reshard after the forward (as ZeRO-2)")
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size(),))
    model = LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=arguments.layers, num_attention_heads=32, num_key_value_heads=4, vocab_size=32000, max_position_embeddings=4096)).train()
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    settings = {"mesh": mesh, "reshard_after_forward": not arguments.keep_gathered, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    for layer in model.model.layers:
        fully_shard(layer, **settings)
    fully_shard(model, **settings)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = torch.randint(0, 32000, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = tokens.cuda()
        loss = model(input_ids=batch, labels=batch, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
