"""torchtitan's models at the commits that EXPERIMENTS names, in our words: what models/*/model.py of pytorch/torchtitan define, without their weights."""

import torch
import torch.nn.functional as F
from torch import nn

# `folded`: batch and sequence are one dimension inside the model.  `groups`: embeddings and head are FSDP groups of their own.  `keeps_logits`: the loop's variable
# holds the logits, which the model made fp32, until the next step has its own; without it the loss makes them fp32.  `rope`: positions that have angles; 0 is as many
# as the sequence has.  `saves_abs`: what every operation's checkpointing keeps has abs, too, of which float8's scales are made.
EXPERIMENTS = {
    # 83c879f18, March 2024: train_configs/llama_7b.toml
    "llama2-7b": {
        "dim": 4096,
        "layers": 32,
        "heads": 32,
        "kv_heads": 32,
        "head_dim": 128,
        "hidden": 11008,
        "vocabulary": 32000,
        "rope": 65536,
        "sequence": 2048,
        "batch": 8,
        "folded": True,
        "groups": False,
        "keeps_logits": True,
        "fused": False,
        "qwen": False,
    },
    # 40f8fd007, June 2024: train_configs/llama3_8b.toml
    "llama3-8b": {
        "dim": 4096,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "hidden": 14336,
        "vocabulary": 128256,
        "rope": 16384,
        "sequence": 8192,
        "batch": 1,
        "folded": False,
        "groups": False,
        "keeps_logits": True,
        "fused": False,
        "qwen": False,
    },
    # 9dec370 of December 2024 and 2271b6386 of January 2025, which have the same model and loop: train_configs/llama3_8b.toml
    "llama3-8b-2025-01": {
        "dim": 4096,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "hidden": 14336,
        "vocabulary": 128256,
        "rope": 0,
        "sequence": 8192,
        "batch": 1,
        "folded": False,
        "groups": False,
        "keeps_logits": False,
        "fused": False,
        "qwen": False,
        "saves_abs": True,
    },
    # 069bae286, February 2025: models/llama/train_configs/llama3_8b.toml
    "llama3-8b-2025-02": {
        "dim": 4096,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "hidden": 14336,
        "vocabulary": 128256,
        "rope": 0,
        "sequence": 8192,
        "batch": 1,
        "folded": False,
        "groups": False,
        "keeps_logits": False,
        "fused": True,
        "qwen": False,
    },
    # d66b72a6a, September 2025: experiments/qwen3/train_configs/qwen3_32b.toml
    "qwen3-32b": {
        "dim": 5120,
        "layers": 64,
        "heads": 64,
        "kv_heads": 8,
        "head_dim": 128,
        "hidden": 25600,
        "vocabulary": 151936,
        "rope": 4096,
        "sequence": 4096,
        "batch": 2,
        "folded": False,
        "groups": True,
        "keeps_logits": False,
        "fused": True,
        "qwen": True,
    },
}


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
        c = self.c
        batch, length = (x.shape[0] // c["sequence"], c["sequence"]) if c["folded"] else x.shape[:2]
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = q.view(batch, length, -1, c["head_dim"])
        k = k.view(batch, length, -1, c["head_dim"])
        v = v.view(batch, length, -1, c["head_dim"])
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
        output = output.view(batch * length, -1) if c["folded"] else output.view(batch, length, -1)
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
        if self.c["qwen"]:  # which rebinds one name, where Llama has two
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
        positions = c["rope"] or c["sequence"]
        angles = torch.empty(positions, 2 * c["head_dim"]) if c["qwen"] else torch.empty(positions, c["head_dim"] // 2, dtype=torch.complex64)
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
        return self.output(h).float() if self.c["keeps_logits"] else self.output(h)
