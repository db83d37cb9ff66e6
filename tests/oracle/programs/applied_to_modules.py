"""tidemark.apply on modules of any kind, on the host: prints, of each plan in argument 1 (JSON), what a training did, or the error."""

import json
import sys

import tidemark
import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)

    def forward(self, x, scale=1.0):
        return x + scale * self.down(torch.nn.functional.gelu(self.up(x)))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=0.5)
        return x.sum()


class Products(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function._schema.name == "aten::addmm"
        return function(*args, **(kwargs or {}))


def trained(plan):
    """Its gradients, how many numbers were kept for them, how often a product ran, and which blocks were changed."""
    torch.manual_seed(0)
    net = Net()
    if plan is not None:
        listed = [net.blocks[i] for i in plan.pop("listed")] if isinstance(plan, dict) and "listed" in plan else None
        net = tidemark.apply(net, plan, listed)
    x, kept, products = torch.randn(3, 16, requires_grad=True), [], Products()
    with products:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
            loss = net(x)
        loss.backward()
    gradients = [p.grad.tolist() for p in net.parameters()]
    return {"gradients": gradients, "kept": sum(kept), "products": products.count, "changed": ["forward" in vars(block) for block in net.blocks]}


def outcome(plan):
    try:
        return trained(plan)
    except ValueError as error:
        return {"error": str(error)}


torch.ones(1, device="cuda")
print("outcomes", json.dumps([outcome(plan) for plan in json.loads(sys.argv[1])]))
