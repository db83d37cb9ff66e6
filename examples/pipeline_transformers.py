"""A language model of transformers in stages, one or more per card: the program that `tidemark predict --pp-degree …` means.

tidemark run --gpu h100-80gb --gpus 4 --all-ranks -- torchrun --nproc-per-node 4 examples/pipeline_transformers.py llama-3-8b/config.json --microbatches 8
tidemark predict llama-3-8b/ --batch 16 --seq 1024 --gpu h100-80gb --gpus 4 --rank 0 --pp-degree 4 --pp-microbatches 8
"""

import argparse
import copy
import json
import os

import torch
import transformers
from torch.distributed import pipelining

try:
    from transformers.initialization import no_init_weights
except ImportError:  # before transformers 5
    from transformers.modeling_utils import no_init_weights

SCHEDULES = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B, "interleaved_1f1b": pipelining.ScheduleInterleaved1F1B, "looped_bfs": pipelining.ScheduleLoopedBFS}


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    parser.add_argument("--schedule", choices=SCHEDULES, default="1f1b")
    parser.add_argument("--stages-per-rank", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    config = transformers.AutoConfig.for_model(**json.load(open(arguments.config)))
    with no_init_weights():
        model = transformers.AutoModelForCausalLM.from_config(config, torch_dtype=torch.bfloat16).train()
    count = ranks * arguments.stages_per_rank
    mine = range(rank, count, ranks)
    modules = [Stage(model, index, count).to("cuda") for index in mine]
    stages = [pipelining.PipelineStage(module, index, count, torch.device("cuda", torch.cuda.current_device())) for module, index in zip(modules, mine)]
    schedule = SCHEDULES[arguments.schedule](
        stages if arguments.schedule in ("interleaved_1f1b", "looped_bfs") else stages[0], arguments.microbatches, loss_fn=lambda logits, labels: model.loss_function(logits=logits, labels=labels, vocab_size=config.vocab_size)
    )
    optimizer = torch.optim.AdamW((parameter for module in modules for parameter in module.parameters()), lr=1e-4)
    tokens = torch.full((arguments.batch, arguments.sequence), 5)

    for step in range(arguments.steps):
        inputs = [tokens.to("cuda")] if 0 in mine else []
        mask = torch.ones_like(tokens).to("cuda")
        target = tokens.to("cuda") if count - 1 in mine else None
        schedule.step(*inputs, target=target, attention_mask=mask)
        del inputs, mask, target
        optimizer.step()
        optimizer.zero_grad()
        print(f"rank {rank}: step {step}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
