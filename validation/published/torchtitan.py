"""One rank of torchtitan's pretrainings that commit messages report: FSDP over all cards, per parameter (FSDP2) or flat (FSDP1), parameters in fp32, computation in bf16.

    torchrun --nproc-per-node 8 torchtitan.py EXPERIMENT [--checkpointing full|2|op] [--batch N] [--fsdp1]

What train.py, models/*/model.py and parallelize_*.py of pytorch/torchtitan do at the commit that EXPERIMENTS names, in our words.  What differs: weights are left as
they come, tokens are made up, losses are not averaged over ranks for the log.
"""

import argparse
import collections
import gc
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import enable_wrap, wrap
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

# `folded`: batch and sequence are one dimension inside the model.  `groups`: embeddings and head are FSDP groups of their own.  `keeps_logits`: the loop's variable
# holds the fp32 logits until the next step has its own.
EXPERIMENTS = {
    # 83c879f18, March 2024: train_configs/llama_7b.toml
    "llama2-7b": {"dim": 4096, "layers": 32, "heads": 32, "kv_heads": 32, "head_dim": 128, "hidden": 11008, "vocabulary": 32000, "rope": 65536, "sequence": 2048, "batch": 8,
                  "folded": True, "groups": False, "keeps_logits": True, "fused": False, "qwen": False},
    # 40f8fd007, June 2024: train_configs/llama3_8b.toml
    "llama3-8b": {"dim": 4096, "layers": 32, "heads": 32, "kv_heads": 8, "head_dim": 128, "hidden": 14336, "vocabulary": 128256, "rope": 16384, "sequence": 8192, "batch": 1,
                  "folded": False, "groups": False, "keeps_logits": True, "fused": False, "qwen": False},
    # d66b72a6a, September 2025: experiments/qwen3/train_configs/qwen3_32b.toml
    "qwen3-32b": {"dim": 5120, "layers": 64, "heads": 64, "kv_heads": 8, "head_dim": 128, "hidden": 25600, "vocabulary": 151936, "rope": 4096, "sequence": 4096, "batch": 2,
                  "folded": False, "groups": True, "keeps_logits": False, "fused": True, "qwen": True},
}
STEPS = 20
aten = torch.ops.aten
SAVED = {aten.mm.default, aten._scaled_dot_product_efficient_attention.default, aten._scaled_dot_product_flash_attention.default, torch.ops._c10d_functional.reduce_scatter_tensor.default}


class Norm(nn.Module):
    """torchtitan's own RMSNorm of 2024, before nn.RMSNorm."""

    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def normed(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self.normed(x.float()).type_as(x)
        return output * self.weight


def rotated(x, angles):
    """Pairs of neighbours as complex numbers (Llama)."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return pairs, angles[: x.shape[1]].view(1, x.shape[1], 1, -1)


def llama_rope(q, k, angles):
    q_pairs, broadcast = rotated(q, angles)
    k_pairs = torch.view_as_complex(k.float().reshape(*k.shape[:-1], -1, 2))
    q_out = torch.view_as_real(q_pairs * broadcast).flatten(3)
    k_out = torch.view_as_real(k_pairs * broadcast).flatten(3)
    return q_out.type_as(q), k_out.type_as(k)


def half_rotated(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def qwen_rope(q, k, cache):
    size = q.shape[-1]
    cache = cache[: q.shape[1]].view(-1, q.shape[1], 1, size * 2)
    cos, sin = cache[..., :size].to(q.dtype), cache[..., size:].to(q.dtype)
    q_out = (q * cos) + (half_rotated(q) * sin)
    k_out = (k * cos) + (half_rotated(k) * sin)
    return q_out, k_out


def repeated(x, times):
    if times == 1:
        return x
    batch, sequence, heads, size = x.shape
    return x[:, :, :, None, :].expand(batch, sequence, heads, times, size).reshape(batch, sequence, heads * times, size)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        if c["qwen"]:
            self.q_norm, self.k_norm = nn.RMSNorm(c["head_dim"], eps=1e-6), nn.RMSNorm(c["head_dim"], eps=1e-6)
        self.wq = nn.Linear(c["dim"], c["heads"] * c["head_dim"], bias=False)
        self.wk = nn.Linear(c["dim"], c["kv_heads"] * c["head_dim"], bias=False)
        self.wv = nn.Linear(c["dim"], c["kv_heads"] * c["head_dim"], bias=False)
        self.wo = nn.Linear(c["heads"] * c["head_dim"], c["dim"], bias=False)

    def forward(self, x, angles):
        c, batch = self.c, x.numel() // (self.c["sequence"] * self.c["dim"])
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = q.view(batch, c["sequence"], -1, c["head_dim"])
        k = k.view(batch, c["sequence"], -1, c["head_dim"])
        v = v.view(batch, c["sequence"], -1, c["head_dim"])
        if c["qwen"]:
            q = self.q_norm(q)
            k = self.k_norm(k)
            q, k = qwen_rope(q, k, angles)
        else:
            q, k = llama_rope(q, k, angles)
        keys, values = repeated(k, c["heads"] // c["kv_heads"]), repeated(v, c["heads"] // c["kv_heads"])
        q, k, v = q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        output = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        output = output.transpose(1, 2).contiguous()
        output = output.view(batch * c["sequence"], -1) if c["folded"] else output.view(batch, c["sequence"], -1)
        return self.wo(output)


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.w1 = nn.Linear(c["dim"], c["hidden"], bias=False)
        self.w2 = nn.Linear(c["hidden"], c["dim"], bias=False)
        self.w3 = nn.Linear(c["dim"], c["hidden"], bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        norm = nn.RMSNorm if c["qwen"] else Norm
        self.c, self.attention, self.feed_forward = c, Attention(c), FeedForward(c)
        self.attention_norm, self.ffn_norm = norm(c["dim"]), norm(c["dim"])

    def forward(self, x, angles):
        if self.c["qwen"]:   # which rebinds one name, where Llama has two
            x = x + self.attention(self.attention_norm(x), angles)
            x = x + self.feed_forward(self.ffn_norm(x))
            return x
        h = x + self.attention(self.attention_norm(x), angles)
        out = h + self.feed_forward(self.ffn_norm(h))
        return out


class Transformer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.tok_embeddings = nn.Embedding(c["vocabulary"], c["dim"])
        angles = torch.empty(c["rope"], 2 * c["head_dim"]) if c["qwen"] else torch.empty(c["rope"], c["head_dim"] // 2, dtype=torch.complex64)
        self.register_buffer("angles", angles, persistent=False)
        self.layers = nn.ModuleDict({str(i): Block(c) for i in range(c["layers"])})
        self.norm = (nn.RMSNorm if c["qwen"] else Norm)(c["dim"])
        self.output = nn.Linear(c["dim"], c["vocabulary"], bias=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        if self.c["folded"]:
            h = h.view(-1, self.c["dim"])
        for layer in self.layers.values():
            h = layer(h, self.angles)
        h = self.norm(h)
        if self.c["folded"]:
            h = h.view(tokens.shape[0], -1, self.c["dim"])
        return self.output(h) if self.c["qwen"] else self.output(h).float()


def every_second_product():
    """Saves attention, reduce-scatter and every other matrix product; the rest is computed again."""
    counts = collections.Counter()

    def policy(context, func, *args, **kwargs):
        if func == aten.mm.default:
            counts[context.is_recompute] += 1
        saved = func in SAVED and not (func == aten.mm.default and counts[context.is_recompute] % 2 == 0)
        return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


def checkpointed(block, number, mode):
    """`2` is every other block, the second first."""
    if mode == "2" and number % 2 == 0:
        return block
    options = {"context_fn": every_second_product} if mode == "op" else {}
    return checkpoint_wrapper(block, preserve_rng_state=False, **options)   # not reentrant by default


def sharded_flat(model, mode):
    """FSDP1, as the parent of 83c879f18 has it."""
    settings = {"mixed_precision": MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32), "sharding_strategy": ShardingStrategy.FULL_SHARD,
                "backward_prefetch": BackwardPrefetch.BACKWARD_PRE, "use_orig_params": True, "device_mesh": init_device_mesh("cuda", (torch.distributed.get_world_size(),)),
                "param_init_fn": lambda module: module.to_empty(device="cuda", recurse=False)}
    with enable_wrap(wrapper_cls=FullyShardedDataParallel, **settings):
        for number, (name, block) in enumerate(list(model.layers.items())):
            model.layers[name] = wrap(checkpointed(block, number, mode))
        return wrap(model)


def sharded(model, mode):
    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size(),))
    settings = {"mesh": mesh, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)}
    groups, last = model.c["groups"], len(model.layers) - 1
    if groups:
        fully_shard(model.tok_embeddings, **settings, reshard_after_forward=True)
    for number, (name, block) in enumerate(list(model.layers.items())):
        block = checkpointed(block, number, mode)
        # Without groups for embeddings and head, the last block is the one that FSDP would gather again at once.
        model.layers[name] = fully_shard(block, **settings, reshard_after_forward=groups or number < last)
    if groups:
        fully_shard([model.norm, model.output], **settings, reshard_after_forward=False)
    return fully_shard(model, **settings)


def loss_of(c, logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float() if c["qwen"] else logits.flatten(0, 1), labels.flatten(0, 1))


def train(c, model, flat):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, **({"fused": True} if c["fused"] else {"foreach": True}))
    for _ in range(STEPS):
        tokens, labels = torch.randint(0, c["vocabulary"], (2, c["batch"], c["sequence"]))
        tokens, labels = tokens.cuda(), labels.cuda()
        optimizer.zero_grad()
        logits = model(tokens)
        loss = loss_of(c, logits, labels)
        if not c["keeps_logits"]:
            del logits
        loss.backward()
        if flat:
            model.clip_grad_norm_(1.0)
        else:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        print("peak active", torch.cuda.memory_stats()["active_bytes.all.peak"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--checkpointing", choices=["full", "2", "op"], default="full")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--fsdp1", action="store_true")
    arguments = parser.parse_args()
    c = {**EXPERIMENTS[arguments.experiment], **({"batch": arguments.batch} if arguments.batch else {})}
    gc.disable()   # as train.py does; it collects every 10 or 50 steps
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    with torch.device("meta"):
        model = Transformer(c)
    if arguments.fsdp1:
        model = sharded_flat(model, arguments.checkpointing)
    else:
        model = sharded(model, arguments.checkpointing)
        model.to_empty(device="cuda")
    train(c, model, arguments.fsdp1)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
