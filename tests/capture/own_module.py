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


def train(batch, seq):
    model = Block().to(torch.bfloat16).to("cuda")
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad])
    for _ in range(3):
        given = {name: value.to("cuda") for name, value in inputs(batch, seq).items()}
        loss = model(**given)["loss"]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del given, loss


def predict(batch, seq):
    import tidemark

    with torch.device("meta"):
        meta = Block().to(torch.bfloat16)
    modules = {"meta": meta, "cpu": Block().to(torch.bfloat16)}
    reports = {name: tidemark.predict(module, inputs=inputs, batch=batch, seq=seq, gpu="h100-80gb") for name, module in modules.items()}
    reports["fixed"] = tidemark.predict(meta, inputs=inputs(batch, seq), batch=batch, seq=seq, gpu="h100-80gb")
    plan = tidemark.plan(meta, inputs=inputs, batch=batch, seq=seq, gpu="h100-80gb", goal="smallest_change")
    print(json.dumps({name: report.peak.to_dict() for name, report in reports.items()} | {"plan": plan.to_dict()["answers"][0]}))


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
