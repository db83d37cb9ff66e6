"""Small floats that follow from integers are true on the virtual GPU: lengths that are divided and rounded.  Prints what differs from the CPU."""

import json

import torch


def frames(length, stride, kernel):
    """transformers: models/mimi/modeling_mimi.py, _get_extra_padding_for_conv1d (5.23.0)"""
    count = torch.ceil((length - kernel + (kernel - stride)) / stride + 1).to(torch.int64) - 1
    return count * stride + kernel - (kernel - stride) - length


def in_place(lengths):
    shares = lengths / 3
    shares += 0.5
    shares[1:].mul_(2)
    return torch.floor(shares).long(), shares.max().item(), (shares > 2).sum()


def in_parts(lengths):
    return torch.cat([lengths * 0.5, lengths.double().sqrt()]).round().int().tolist(), lengths.float().mean().item()


def at_places(lengths):
    places = torch.linspace(0, 1, 5, device=lengths.device)  # of no integer: not known
    return lengths.sum() / lengths.numel(), (lengths.float() / lengths.max()).ge(0.5), torch.bucketize(lengths / 4, (lengths - 1) / 4), places.shape[0]


def across(lengths):
    table = (lengths / 2).repeat(3, 1).t().contiguous()
    return table.unfold(0, 2, 1).sum(-1).floor().long(), table.sum(0).ceil().long()


def of(device, make):
    tensor = lambda *numbers: torch.tensor(numbers[0] if len(numbers) == 1 else numbers, device=device)
    return make(tensor)


CASES = {
    "frames": lambda tensor: [frames(length, tensor(stride), tensor(kernel)) for length, stride, kernel in ((24000, 8, 16), (1501, 5, 10), (7, 2, 4))],
    "in place": lambda tensor: in_place(tensor(7, 5, 3, 2)),
    "in parts": lambda tensor: in_parts(tensor(7, 5, 3, 2)),
    "at places": lambda tensor: at_places(tensor(7, 5, 3, 2)),
    "across": lambda tensor: across(tensor(7, 5, 3, 2)),
}


def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return value.tolist() if torch.is_tensor(value) else value


def forgotten():
    """What becomes of known floats that unknown ones are written into, and of memory that is given to others."""
    shares = torch.tensor([7, 5], device="cuda") / 2
    weights = torch.ones(2, device="cuda").normal_()
    shares.add_(weights)
    drawn = torch.tensor([7, 5], device="cuda") / 2
    drawn.normal_()
    return {"after an unknown was added": shares.max().item(), "after numbers were drawn": drawn.max().item()}


def main():
    failed = {name: [plain(of("cpu", make)), plain(of("cuda", make))] for name, make in CASES.items()}
    print(json.dumps({"failed": {name: pair for name, pair in failed.items() if pair[0] != pair[1]}, "passed": len(CASES), "forgotten": forgotten()}))


if __name__ == "__main__":
    main()
