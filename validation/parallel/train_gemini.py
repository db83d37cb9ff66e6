"""LLMem's training (arXiv 2404.10933, dp_real.py of taehokim20/LLMem) of a model by its configuration, under Colossal-AI's Gemini: fp16 chunks, fp32 master
weights, HybridAdam, every layer checkpointed, 512 tokens, no padding; three steps, the cache emptied where it empties it.

    tidemark run --gpu t4 --gpus 4 -- python -m torch.distributed.run --nproc-per-node 4 train_gemini.py CONFIG.json --batch 1

Needs Colossal-AI to be importable (PYTHONPATH may say where); its package asks for an older torch than ours, and its Gemini runs on it all the same.
LLMem pins transformers 4.29.2, which had eager attention alone."""

import argparse
import json
import os
import warnings

import torch
import transformers
from no_kernels import NoKernels
from transformers.initialization import no_init_weights

warnings.simplefilter("ignore")


def chunks_of_one_rank(model):
    """LLMem's change to the search of the chunk size: the chunks of one rank are never cut."""
    from colossalai.zero.gemini.chunk.search_utils import search_chunk_configuration

    config = search_chunk_configuration(model, search_range_m=32, search_interval=1024, min_chunk_size_m=32)[0]
    return {ranks: {**options, "keep_gathered": True} for ranks, options in config.items()}


def wrapped(model):
    """booster.boost(model, optimizer) of GeminiPlugin(placement_policy="cuda", precision="fp16"), in the words of Colossal-AI 0.5.

    The revision that LLMem pins (d4fb7bf) never evicts a chunk under "cuda": CUDAPlacementPolicy.evict_tensors of zero/gemini/placement_policy.py.  What
    was gathered stays so until its gradients are reduced, which is shard_param_frac=0 of today's "static", and gradients are reduced on the spot."""
    import colossalai.nn.optimizer.cpu_adam as cpu_adam
    import colossalai.nn.optimizer.hybrid_adam as hybrid_adam
    from colossalai.zero.gemini.gemini_ddp import GeminiDDP
    from colossalai.zero.gemini.gemini_optimizer import GeminiOptimizer

    cpu_adam.CPUAdamLoader = hybrid_adam.FusedOptimizerLoader = NoKernels
    optimizer = hybrid_adam.HybridAdam(model.parameters(), lr=2e-5, weight_decay=0.0)
    chunks = chunks_of_one_rank(model) if torch.distributed.get_world_size() == 1 else None
    model = GeminiDDP(
        model,
        chunk_config_dict=chunks,
        chunk_init_device=torch.device("cuda", torch.cuda.current_device()),
        placement_policy="static",
        shard_param_frac=0.0,
        enable_async_reduce=False,
        mixed_precision=torch.float16,
        pin_memory=False,
        strict_ddp_mode=False,
    )
    return model, GeminiOptimizer(optimizer, model, initial_scale=2**5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=512)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    torch.distributed.init_process_group("nccl")
    with open(options.config) as file:
        config = transformers.AutoConfig.for_model(**json.load(file))
    with no_init_weights():
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    model.tie_weights()
    model.to("cuda")
    model.half()
    torch.cuda.empty_cache()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    model, optimizer = wrapped(model)
    torch.cuda.empty_cache()
    model.train()
    tokens = torch.full((options.batch, options.seq), 5)
    rows = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
    for step in range(options.steps):
        batch = {name: row.to("cuda") for name, row in rows.items()}
        model.zero_grad()
        outputs = model(use_cache=False, **batch)
        loss = outputs["loss"]
        outputs = 0
        optimizer.backward(loss)
        if step == 0:
            torch.cuda.empty_cache()
        optimizer.step()
        optimizer.zero_grad()


main()
