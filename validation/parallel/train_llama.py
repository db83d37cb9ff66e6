"""Three steps of a Llama under one strategy: what `strategies_table.py` runs in every cell.

tidemark run --gpu h100-80gb --gpus 4 -- torchrun --nproc-per-node 4 validation/parallel/train_llama.py --strategy fsdp2 --checkpointing
"""

import argparse
import contextlib
import os

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.initialization import no_init_weights

CONFIG = dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4, vocab_size=32000, max_position_embeddings=2048)


def built(arguments, dtype):
    torch.set_default_dtype(dtype)
    with no_init_weights():
        model = LlamaForCausalLM(LlamaConfig(**{**CONFIG, "num_hidden_layers": arguments.layers}))
    torch.set_default_dtype(torch.float32)
    model.config.use_cache = False
    if arguments.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.train()


def ddp(arguments, amp):
    model = torch.nn.parallel.DistributedDataParallel(built(arguments, torch.float32 if amp else torch.bfloat16).cuda())
    context = (lambda: torch.autocast("cuda", dtype=torch.bfloat16)) if amp else contextlib.nullcontext
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4), context


def fsdp1(arguments):
    import functools

    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer

    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={LlamaDecoderLayer})
    precision = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = FullyShardedDataParallel(built(arguments, torch.float32), auto_wrap_policy=policy, mixed_precision=precision, device_id=torch.cuda.current_device(), use_orig_params=True)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4), contextlib.nullcontext


def fsdp2(arguments, reshard):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    model = built(arguments, torch.float32)
    settings = {"mesh": init_device_mesh("cuda", (torch.distributed.get_world_size(),)), "reshard_after_forward": reshard, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    for layer in model.model.layers:
        fully_shard(layer, **settings)
    fully_shard(model, **settings)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4), contextlib.nullcontext


def tp(arguments):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size(),))
    model = built(arguments, torch.bfloat16).cuda()
    plan = {f"model.layers.*.{name}": ColwiseParallel() for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")}
    plan |= {f"model.layers.*.{name}": RowwiseParallel() for name in ("self_attn.o_proj", "mlp.down_proj")}
    plan |= {"model.embed_tokens": RowwiseParallel(input_layouts=Replicate()), "lm_head": ColwiseParallel(output_layouts=Replicate())}
    parallelize_module(model, mesh, plan)
    groups = [[p for p in model.parameters() if isinstance(p, DTensor) == is_split] for is_split in (True, False)]
    return model, torch.optim.AdamW([{"params": group} for group in groups if group], lr=1e-4), contextlib.nullcontext


def zero(arguments, stage):
    import deepspeed

    model = built(arguments, torch.bfloat16)
    settings = {"train_micro_batch_size_per_gpu": arguments.batch, "bf16": {"enabled": True}, "zero_optimization": {"stage": stage}}
    return deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-4), config=settings)[0]


STRATEGIES = {
    "ddp": lambda arguments: ddp(arguments, amp=False),
    "ddp_amp": lambda arguments: ddp(arguments, amp=True),
    "fsdp1": fsdp1,
    "fsdp2": lambda arguments: fsdp2(arguments, reshard=True),
    "fsdp2_keep": lambda arguments: fsdp2(arguments, reshard=False),
    "zero1": lambda arguments: zero(arguments, 1),
    "zero2": lambda arguments: zero(arguments, 2),
    "zero3": lambda arguments: zero(arguments, 3),
    "tp": tp,
}


def train_plain(made, on_host, steps):
    """PyTorch's own loop, which lets go of the batch and the loss before the optimizer's step."""
    model, optimizer, context = made
    for _ in range(steps):
        batch = {key: value.cuda() for key, value in on_host.items()}
        with context():
            loss = model(**batch).loss
        loss.backward()
        del loss, batch
        optimizer.step()
        optimizer.zero_grad()


def train_engine(engine, on_host, steps):
    """DeepSpeed's, as its examples write it: the batch is gone after the forward, the last loss with the next."""
    for _ in range(steps):
        loss = engine(**{key: value.cuda() for key, value in on_host.items()}).loss
        engine.backward(loss)
        engine.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", choices=STRATEGIES, required=True)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=CONFIG["num_hidden_layers"])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--checkpointing", action="store_true")
    arguments = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if arguments.strategy.startswith("zero"):
        import deepspeed

        deepspeed.init_distributed()
    else:
        torch.distributed.init_process_group("nccl")
    made = STRATEGIES[arguments.strategy](arguments)
    tokens = torch.randint(0, 32000, (arguments.batch, arguments.sequence))
    batch = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
    (train_plain if isinstance(made, tuple) else train_engine)(made, batch, arguments.steps)


if __name__ == "__main__":
    main()
