"""GPT-2 under DistributedDataParallel, started by torchrun: one process per card, gradients in buckets over NCCL.

tidemark run --gpu a10 -- torchrun --nproc-per-node 1 examples/torchrun_ddp.py --batch 8
"""

import argparse
import os

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    model = DistributedDataParallel(GPT2LMHeadModel(GPT2Config(n_layer=arguments.layers)).cuda().train())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    input_ids = torch.randint(0, 50257, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = input_ids.cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
