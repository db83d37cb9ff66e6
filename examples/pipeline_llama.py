"""A decoder of 1.3 B parameters in stages, one per card, by the schedules of torch.distributed.pipelining.

Ranks differ: the first holds the embedding, the last the output layer and the loss, and each has other micro-batches in flight.

    tidemark run --gpu rtx-4090 --gpus 4 --all-ranks -- torchrun --nproc-per-node 4 examples/pipeline_llama.py --schedule 1f1b
"""

import argparse
import os

import torch
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B

WIDTH, VOCABULARY = 2048, 32000
SCHEDULES = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B, "interleaved": ScheduleInterleaved1F1B}


class Stage(torch.nn.Module):
    """Every stage has its share of the layers; the first embeds, the last predicts."""

    def __init__(self, layers, first, last):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH) if first else None
        self.layers = torch.nn.ModuleList(torch.nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True, norm_first=True, dropout=0.0) for _ in range(layers))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False) if last else None

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, is_causal=True, src_mask=torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device, dtype=x.dtype))
        return self.head(x) if self.head is not None else x


def loss_of(logits, targets):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", choices=SCHEDULES, default="1f1b")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    per_rank = 2 if arguments.schedule == "interleaved" else 1
    count = ranks * per_rank
    torch.set_default_dtype(torch.bfloat16)
    stages = []
    for index in range(rank, count, ranks):
        module = Stage(arguments.layers // count, first=index == 0, last=index == count - 1).to(device).train()
        stages.append(PipelineStage(module, index, count, device))
    schedule = SCHEDULES[arguments.schedule](stages if per_rank > 1 else stages[0], arguments.microbatches, loss_fn=loss_of)
    optimizer = torch.optim.AdamW((parameter for stage in stages for parameter in stage.submod.parameters()), lr=3e-4)
    tokens = torch.randint(0, VOCABULARY, (arguments.batch, arguments.sequence))

    for step in range(arguments.steps):
        batch = tokens.to(device)
        inputs = [batch] if rank == 0 else []
        targets = {"target": batch} if rank == ranks - 1 else {}
        schedule.step(*inputs, **targets)
        optimizer.step()
        optimizer.zero_grad()
        print(f"rank {rank}: step {step}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
