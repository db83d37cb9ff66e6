"""Run by test_own_module.py, under `tidemark run` and as it is: a module that no configuration tells of, trained, or predicted."""

import json
import sys

import torch


class Block(torch.nn.Module):
    """With a layer that is shared, one that is frozen, and a buffer."""

    def __init__(self, width=256, vocabulary=512):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.norm, self.up, self.down = torch.nn.LayerNorm(width), torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.down.requires_grad_(False)
        self.head = torch.nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.ones(width))

    def forward(self, tokens, labels):
        x = self.embed(tokens) * self.scale
        x = x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))
        return {"loss": torch.nn.functional.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())}


def inputs(batch, seq):
    return {"tokens": torch.zeros(batch, seq, dtype=torch.long), "labels": torch.zeros(batch, seq, dtype=torch.long)}


class Regressor(torch.nn.Module):
    """With every loss that compares element by element."""

    def __init__(self, width=256, answers=512):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, answers)

    def forward(self, features, targets):
        y, losses = self.down(torch.nn.functional.gelu(self.up(features))), torch.nn.functional
        loss = losses.mse_loss(y, targets) + losses.l1_loss(y, targets, reduction="sum") + losses.smooth_l1_loss(y, targets)
        return {"loss": loss + losses.binary_cross_entropy_with_logits(y, targets)}


class Near(torch.nn.Module):
    """With a mask that is made by torch.vmap for each two places (transformers/masking_utils.py makes some so)."""

    def __init__(self, width=256, vocabulary=512):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(vocabulary, width), torch.nn.Linear(width, vocabulary)

    def forward(self, tokens, labels):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        near = torch.vmap(torch.vmap(lambda q, k: (k <= q) & (k > q - 16), in_dims=(None, 0)), in_dims=(0, None))(places, places)
        x = self.embed(tokens)
        scores = torch.matmul(x, x.transpose(1, 2)).masked_fill(torch.logical_not(near), -1e4)
        x = torch.matmul(scores.softmax(-1), x)
        return {"loss": torch.nn.functional.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())}


class Remembers(torch.nn.Module):
    """With a table that the first call makes, and a buffer in whose place another one is from then on."""

    def __init__(self, width=256, vocabulary=512):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(vocabulary, width), torch.nn.Linear(width, vocabulary)
        self.register_buffer("scale", torch.ones(256 * width))
        self.register_buffer("other", torch.ones(256 * width))
        self.register_buffer("sum", torch.zeros(128 * width))

    def forward(self, tokens, labels):
        x = self.embed(tokens)
        if not hasattr(self, "table"):
            self.table = torch.ones(512 * x.shape[-1], device=x.device).cos() + 1
        self.register_buffer("scale", self.other)
        self.register_buffer("sum", self.sum + 1)
        x = x * self.scale[: x.shape[-1]].to(x.dtype) + self.table[: x.shape[-1]].to(x.dtype) + self.sum[: x.shape[-1]].to(x.dtype)
        return {"loss": torch.nn.functional.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())}


class Adapted(Block):
    """With weights that stay fp32 beside bf16 ones, as adapters do."""

    def __init__(self, width=256, vocabulary=512):
        super().__init__(width, vocabulary)
        self.low, self.high = torch.nn.Linear(width, 8, bias=False), torch.nn.Linear(8, width, bias=False)

    def to(self, *where):
        super().to(*where)
        self.low.float(), self.high.float()
        return self

    def forward(self, tokens, labels):
        x = self.embed(tokens) * self.scale
        x = x + self.down(torch.nn.functional.gelu(self.up(self.norm(x)))) + self.high(self.low(x.float())).to(x.dtype)
        return {"loss": torch.nn.functional.cross_entropy(self.head(x).flatten(0, 1), labels.flatten())}


class Convolved(torch.nn.Module):
    """With convolutions that no table has: dilated, in groups, of one dimension, over channels last, and transposed ones whose results are longer than their strides tell."""

    def __init__(self, width=96, answers=32):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, width, 10, 10)
        self.near = torch.nn.Conv2d(width, width, 3, padding=2, dilation=2, groups=4)
        self.wider = torch.nn.ConvTranspose2d(width, width, 3, stride=2, padding=1, output_padding=1)
        self.along = torch.nn.Conv1d(width, answers, 5, stride=2)

    def forward(self, images, targets):
        x = torch.nn.functional.gelu(self.near(self.patches(images)))
        x = self.wider(x.contiguous(memory_format=torch.channels_last)).mean(3)
        return {"loss": torch.nn.functional.mse_loss(self.along(x), targets)}


class Spoken(torch.nn.Module):
    """With sounds that become tokens as transformers/models/mimi makes them: padded by as much as numbers on the card tell, and looked up in tables that the first call makes, which no module is called for."""

    def __init__(self, width=64, tokens=96):
        super().__init__()
        self.frames, self.embed, self.head = torch.nn.Conv1d(1, width, 16, 8), torch.nn.Embedding(tokens, width), torch.nn.Linear(width, tokens)
        self.register_buffer("sums", torch.ones(2, tokens, width))

    def codes(self, frames, which):
        if not hasattr(self, f"table_{which}"):
            setattr(self, f"table_{which}", self.sums[which] / self.sums[which].sum(-1, keepdim=True).clamp(min=1e-5))
        return torch.cdist(frames.float(), getattr(self, f"table_{which}")[None].float()).argmin(dim=-1)

    def forward(self, sounds):
        length, stride = sounds.shape[-1], torch.tensor(8, device=sounds.device)
        missing = (torch.ceil((length - stride) / stride) * stride).long() + stride - length
        with torch.no_grad():
            frames = self.frames(torch.nn.functional.pad(sounds[:, None], (stride, missing))).transpose(1, 2)
            tokens = [torch.cat([self.codes(one[None], which) for which in range(2)], -1) for one in frames]
            tokens = torch.cat(tokens)
            tokens[torch.arange(2, device=tokens.device), torch.arange(2, device=tokens.device)] = 1
        return {"loss": torch.nn.functional.cross_entropy(self.head(self.embed(tokens)).flatten(0, 1), tokens.flatten())}


def sounds(batch, seq):
    return {"sounds": torch.zeros(batch, 8 * seq + 3, dtype=torch.bfloat16)}


def pictures(batch, seq):
    return {"images": torch.zeros(batch, 3, 200, 200, dtype=torch.bfloat16), "targets": torch.zeros(batch, 32, 18, dtype=torch.bfloat16)}


def numbers(batch, seq):
    return {"features": torch.zeros(batch, seq, 256, dtype=torch.bfloat16), "targets": torch.zeros(batch, seq, 512, dtype=torch.bfloat16)}


MODULES = {"block": (Block, inputs), "adapted": (Adapted, inputs), "regressor": (Regressor, numbers), "near": (Near, inputs), "remembers": (Remembers, inputs), "convolved": (Convolved, pictures), "spoken": (Spoken, sounds)}


def train(module, inputs, batch, seq):
    model = module().to(torch.bfloat16).to("cuda")
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad])
    for _ in range(3):
        given = {name: value.to("cuda") for name, value in inputs(batch, seq).items()}
        loss = model(**given)["loss"]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del given, loss


def predict(module, inputs, batch, seq):
    import tidemark

    with torch.device("meta"):
        meta = module().to(torch.bfloat16)
    modules = {"meta": meta, "cpu": module().to(torch.bfloat16)}
    reports = {name: tidemark.predict(module, inputs=inputs, batch=batch, seq=seq, gpu="h100-80gb") for name, module in modules.items()}
    reports["fixed"] = tidemark.predict(meta, inputs=inputs(batch, seq), batch=batch, seq=seq, gpu="h100-80gb")
    plan = tidemark.plan(meta, inputs=inputs, batch=batch, seq=seq, gpu="h100-80gb", goal="smallest_change")
    print(json.dumps({name: report.peak.to_dict() for name, report in reports.items()} | {"plan": plan.to_dict()["answers"][0]}))


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*MODULES[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4]))
