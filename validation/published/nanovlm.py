"""nanoVLM's measure_vram.py: batch sizes one after another in one process, two optimizer steps each.

    python nanovlm.py 0509|0606 BATCH        runs 1, 2, 4 … BATCH

A vision-language model of 222 M parameters (SigLIP base, pixel shuffle, SmolLM2-135M), written again from the description in the repository's models/ at the
commits that README.md names: fp32 weights under bf16 autocast, AdamW with PyTorch's defaults.  What differs: weights are left as they come and tokens are
made up.  No byte depends on either, because its collator pads and cuts every text to one length.
"""

import argparse
import gc

import torch
import torch.nn.functional as F
from torch import nn

HIDDEN, HEADS, KV_HEADS, FEED_FORWARD, LAYERS = 576, 9, 3, 1536, 30  # SmolLM2-135M
VIT_HIDDEN, VIT_HEADS, VIT_LAYERS, PATCH = 768, 12, 12, 16  # SigLIP base
SHUFFLE = 2  # mp_pixel_shuffle_factor
SEQUENCE = 128  # image and text tokens together


class Round:
    """What changed between the two measurements."""

    def __init__(self, name):
        self.is_first = name == "0509"
        self.image = 224 if self.is_first else 256
        self.image_tokens = (self.image // PATCH // SHUFFLE) ** 2
        self.vocabulary = 49152 if self.is_first else 49153  # the second has a token for images
        self.text_tokens = SEQUENCE - self.image_tokens if self.is_first else SEQUENCE


class PatchEmbeddings(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = nn.Conv2d(3, VIT_HIDDEN, kernel_size=PATCH, stride=PATCH, padding="valid")
        self.position_embedding = nn.Parameter(torch.rand(1, (size // PATCH) ** 2, VIT_HIDDEN))

    def forward(self, x):
        x = self.conv(x)
        x = x.flatten(2)
        x = x.transpose(1, 2)
        x = x + self.position_embedding
        return x


class VitAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(VIT_HIDDEN, 3 * VIT_HIDDEN)
        self.out_proj = nn.Linear(VIT_HIDDEN, VIT_HIDDEN)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        b, t, c = x.size()
        qkv = self.qkv_proj(x)
        q, k, v = qkv.split(c, dim=2)
        q = q.view(b, t, VIT_HEADS, c // VIT_HEADS).transpose(1, 2)
        k = k.view(b, t, VIT_HEADS, c // VIT_HEADS).transpose(1, 2)
        v = v.view(b, t, VIT_HEADS, c // VIT_HEADS).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False)
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        y = self.out_proj(y)
        y = self.dropout(y)
        return y


class VitMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.activation_fn = nn.GELU(approximate="tanh")
        self.fc1 = nn.Linear(VIT_HIDDEN, 4 * VIT_HIDDEN)
        self.fc2 = nn.Linear(4 * VIT_HIDDEN, VIT_HIDDEN)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        x = self.fc1(x)
        x = self.activation_fn(x)
        x = self.fc2(x)
        x = self.dropout(x)
        return x


class VitBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(VIT_HIDDEN, eps=1e-6)
        self.attn = VitAttention()
        self.ln2 = nn.LayerNorm(VIT_HIDDEN, eps=1e-6)
        self.mlp = VitMlp()

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        x = x + self.mlp(self.ln2(x))
        return x


class Vit(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.patch_embedding = PatchEmbeddings(size)
        self.dropout = nn.Dropout(0.0)
        self.blocks = nn.ModuleList([VitBlock() for _ in range(VIT_LAYERS)])
        self.layer_norm = nn.LayerNorm(VIT_HIDDEN, eps=1e-6)

    def forward(self, x):
        x = self.patch_embedding(x)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        x = self.layer_norm(x)
        return x


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x):
        irms = torch.rsqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-5)
        x = x * irms * self.weight
        return x


class RotaryEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        width = HIDDEN // HEADS
        self.register_buffer("inv_freq", 1.0 / (100000 ** (torch.arange(0, width, 2).float() / width)))

    @torch.no_grad()
    def forward(self, position_ids):
        batch, length = position_ids.shape
        longest = position_ids.max() + 1
        inv_freq = self.inv_freq / (longest / 8192) if longest > 8192 else self.inv_freq
        flat = position_ids.reshape(-1).float()
        freqs = flat.unsqueeze(-1) * inv_freq.unsqueeze(0)
        freqs = freqs.reshape(batch, length, -1)
        emb = torch.cat([freqs, freqs], dim=-1)
        cos = torch.cos(emb) * 1.0
        sin = torch.sin(emb) * 1.0
        return cos, sin


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(q, k, cos, sin):
    cos = cos.unsqueeze(1)
    sin = sin.unsqueeze(1)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


class Attention(nn.Module):
    def __init__(self, measured):
        super().__init__()
        self.measured = measured
        width = HIDDEN // HEADS
        self.q_proj = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.k_proj = nn.Linear(HIDDEN, width * KV_HEADS, bias=False)
        self.v_proj = nn.Linear(HIDDEN, width * KV_HEADS, bias=False)
        self.out_proj = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.resid_dropout = nn.Dropout(0.0)

    def forward(self, x, cos, sin, attention_mask):
        return self.first(x, cos, sin, attention_mask) if self.measured.is_first else self.second(x, cos, sin, attention_mask)

    def projected(self, x):
        b, t, _ = x.size()
        width = HIDDEN // HEADS
        return (self.q_proj(x).view(b, t, HEADS, width).transpose(1, 2), self.k_proj(x).view(b, t, KV_HEADS, width).transpose(1, 2), self.v_proj(x).view(b, t, KV_HEADS, width).transpose(1, 2))

    def out(self, y, shape):
        y = y.transpose(1, 2).contiguous().view(*shape)
        y = self.out_proj(y)
        y = self.resid_dropout(y)
        return y

    def first(self, x, cos, sin, attention_mask):
        q, k, v = self.projected(x)
        q, k = apply_rotary(q, k, cos, sin)
        k = k.repeat_interleave(HEADS // KV_HEADS, dim=1)
        v = v.repeat_interleave(HEADS // KV_HEADS, dim=1)
        attention_mask = attention_mask.unsqueeze(1).unsqueeze(2)
        padding_mask = (attention_mask == 0).transpose(-1, -2)  # made and not used, there too
        attention_mask = (1.0 - attention_mask) * torch.finfo(q.dtype).min
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attention_mask, dropout_p=0.0, is_causal=True)
        del padding_mask
        return self.out(y, x.size()), None

    def second(self, x, cos, sin, attention_mask):
        q_current, k_current, v_current = self.projected(x)
        q, k_rotated = apply_rotary(q_current, k_current, cos, sin)
        k, v = k_rotated, v_current
        cache = {"key": k, "value": v}
        k_repeated = k.repeat_interleave(HEADS // KV_HEADS, dim=1)
        v_repeated = v.repeat_interleave(HEADS // KV_HEADS, dim=1)
        mask = attention_mask[:, : k_repeated.size(2)]
        additive = (1.0 - mask.unsqueeze(1).unsqueeze(2).float()) * torch.finfo(q.dtype).min
        y = F.scaled_dot_product_attention(q, k_repeated, v_repeated, attn_mask=additive, dropout_p=0.0, is_causal=True)
        return self.out(y, x.size()), cache


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(HIDDEN, FEED_FORWARD, bias=False)
        self.up_proj = nn.Linear(HIDDEN, FEED_FORWARD, bias=False)
        self.down_proj = nn.Linear(FEED_FORWARD, HIDDEN, bias=False)

    def forward(self, x):
        gate = F.silu(self.gate_proj(x))
        x = self.up_proj(x)
        x = self.down_proj(gate * x)
        return x


class Block(nn.Module):
    def __init__(self, measured):
        super().__init__()
        self.mlp = Mlp()
        self.attn = Attention(measured)
        self.norm1 = RMSNorm()
        self.norm2 = RMSNorm()

    def forward(self, x, cos, sin, attention_mask):
        res = x
        x = self.norm1(x)
        x, cache = self.attn(x, cos, sin, attention_mask)
        x = res + x
        res = x
        x = self.norm2(x)
        x = self.mlp(x)
        x = res + x
        return x, cache


class LanguageModel(nn.Module):
    def __init__(self, measured):
        super().__init__()
        self.token_embedding = nn.Embedding(measured.vocabulary, HIDDEN)
        self.rotary_embd = RotaryEmbedding()
        self.blocks = nn.ModuleList([Block(measured) for _ in range(LAYERS)])
        self.norm = RMSNorm()
        self.head = nn.Linear(HIDDEN, measured.vocabulary, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, x, attention_mask):
        b, t, _ = x.size()
        position_ids = torch.arange(t, device=x.device).unsqueeze(0).expand(b, -1)
        cos, sin = self.rotary_embd(position_ids)
        caches = [None] * len(self.blocks)  # the second round's model keeps every layer's keys and values until its forward returns
        for i, block in enumerate(self.blocks):
            x, caches[i] = block(x, cos, sin, attention_mask)
        x = self.norm(x)
        return x, caches


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(VIT_HIDDEN * SHUFFLE**2, HIDDEN, bias=False)

    def pixel_shuffle(self, x):
        b, seq, width = x.size()
        side = int(seq**0.5)
        x = x.view(b, side, side, width)
        x = x.reshape(b, side // SHUFFLE, SHUFFLE, side // SHUFFLE, SHUFFLE, width)
        x = x.permute(0, 1, 3, 2, 4, 5).contiguous()
        x = x.reshape(b, (side // SHUFFLE) ** 2, width * SHUFFLE**2)
        return x

    def forward(self, x):
        x = self.pixel_shuffle(x)
        x = self.proj(x)
        return x


class VisionLanguageModel(nn.Module):
    def __init__(self, measured):
        super().__init__()
        self.measured = measured
        self.vision_encoder = Vit(measured.image)
        self.decoder = LanguageModel(measured)
        self.MP = Projector()

    def with_images(self, input_ids, token_embd, image_embd):
        updated = token_embd.clone()
        start = torch.argmax((input_ids == self.measured.vocabulary - 1).int(), dim=1)
        rows = torch.arange(input_ids.size(0), device=input_ids.device).unsqueeze(1).expand(-1, self.measured.image_tokens)
        offsets = torch.arange(self.measured.image_tokens, device=input_ids.device).unsqueeze(0)
        columns = start.unsqueeze(1) + offsets
        updated[rows, columns] = image_embd.to(updated.dtype)
        return updated

    def forward(self, input_ids, image, attention_mask, targets):
        image_embd = self.vision_encoder(image)
        image_embd = self.MP(image_embd)
        token_embd = self.decoder.token_embedding(input_ids)
        if self.measured.is_first:
            combined = torch.cat((image_embd, token_embd), dim=1)
            ones = torch.ones((image_embd.size(0), image_embd.size(1)), device=attention_mask.device, dtype=attention_mask.dtype)
            attention_mask = torch.cat((ones, attention_mask), dim=1)
        else:
            combined = self.with_images(input_ids, token_embd, image_embd)
        logits, _ = self.decoder(combined, attention_mask)
        logits = self.decoder.head(logits)
        if self.measured.is_first:
            logits = logits[:, image_embd.size(1) :, :]
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=-100)
        return logits, loss


def batch_of(measured, size):
    """On the host, as its collator leaves it: texts padded on the left."""
    ids = torch.randint(0, measured.vocabulary - 1, (size, measured.text_tokens))
    if not measured.is_first:
        ids[:, 10 : 10 + measured.image_tokens] = measured.vocabulary - 1
    mask = torch.ones_like(ids)
    mask[:, :10] = 0
    labels = ids.clone()
    labels[:, : measured.text_tokens - 5] = -100
    return torch.rand(size, 3, measured.image, measured.image), ids, labels, mask


def measure(model, measured, sizes):
    """`_`, the logits of the last step, lives on into the next batch size: the source deletes the other locals, and not this one."""
    device = torch.device("cuda")
    for size in sizes:
        torch.cuda.reset_peak_memory_stats(device)
        model.train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
        for _step in range(2):
            batch = batch_of(measured, size)
            images = batch[0].to(device)
            input_ids = batch[1].to(device)
            labels = batch[2].to(device)
            attention_mask = batch[3].to(device)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
                _, loss = model(input_ids, images, attention_mask=attention_mask, targets=labels)
            loss.backward()
            optimizer.step()
        print(size, torch.cuda.max_memory_allocated(device) / 2**20, flush=True)
        del optimizer, loss, images, input_ids, labels, attention_mask
        gc.collect()  # an optimizer of torch 2.7 is part of a cycle; there, loading and tokenising the next batches makes Python collect it
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("round", choices=["0509", "0606"])
    parser.add_argument("batch", type=int)
    arguments = parser.parse_args()
    measured = Round(arguments.round)
    model = VisionLanguageModel(measured)
    model.to("cuda")
    print("loaded", torch.cuda.memory_allocated() / 2**20)
    measure(model, measured, [2**i for i in range(arguments.batch.bit_length())])


if __name__ == "__main__":
    main()
