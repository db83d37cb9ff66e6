"""What is on the host is true where somebody wrote it, and takes memory only there.  Prints one JSON line: {"passed": n, "failed": {name: why}}."""

import io
import json
import multiprocessing
import resource
import sys

import numpy
import torch

LARGE = 3 << 20  # elements: several MiB of any type
passed, failed = 0, {}


def check(name, holds, why=""):
    global passed
    if holds:
        passed += 1
    else:
        failed[name] = why or "not so"


def counted(dtype=torch.float32):
    return torch.arange(LARGE, dtype=torch.float32).remainder(97).to(dtype)


def strides(name, make):
    """An operation on floats that nobody knows gives a tensor of the shape and the strides that it gives of known ones."""
    try:
        known, unknown = make(torch.ones(3, 1024, 1024)), make(torch.empty(3, 1024, 1024))
        check(
            f"strides of {name}",
            (known.shape, known.stride(), known.dtype, known.is_pinned()) == (unknown.shape, unknown.stride(), unknown.dtype, unknown.is_pinned()),
            f"{known.shape} {known.stride()} {known.dtype}, not {unknown.shape} {unknown.stride()} {unknown.dtype}",
        )
    except Exception as error:
        check(f"strides of {name}", False, repr(error))


def shapes():
    image = lambda x: x.view(1, 3, 1024, 1024)
    strides("reshape of a permuted one", lambda x: x.permute(1, 2, 0).reshape(-1))
    strides("clone", lambda x: x.permute(1, 2, 0).clone())
    strides("clone, contiguous", lambda x: x.permute(1, 2, 0).clone(memory_format=torch.contiguous_format))
    strides("contiguous", lambda x: x.transpose(0, 2).contiguous())
    strides("channels last", lambda x: image(x).contiguous(memory_format=torch.channels_last))
    strides("to channels last", lambda x: image(x).to(memory_format=torch.channels_last))
    strides("to bfloat16 and channels last", lambda x: image(x).to(torch.bfloat16, memory_format=torch.channels_last))
    strides("to bfloat16 of a permuted one", lambda x: x.permute(1, 2, 0).to(torch.bfloat16))
    strides("to a part", lambda x: x[:, :, 1:1000].to(torch.float64))
    strides("a pinned copy", lambda x: x.pin_memory())
    strides("cat", lambda x: torch.cat([x, x.half()], dim=1))
    strides("cat of channels last", lambda x: torch.cat([image(x).contiguous(memory_format=torch.channels_last)] * 2))
    strides("stack", lambda x: torch.stack([x, x], dim=-1))
    strides("product", lambda x: x * 0.5)
    strides("sum with a permuted one", lambda x: x.permute(1, 2, 0) + x.permute(1, 2, 0).half())
    strides("broadcast", lambda x: x[0, :, :1] * x)
    strides("gradient", lambda x: torch.autograd.grad((x.requires_grad_() * 2).sum(), x)[0])


def written_values():
    counts = counted()
    check("clone", torch.equal(counts.clone(), counts))
    check("to another type and back", torch.equal(counts.to(torch.float64).to(torch.float32), counts) and torch.equal(counts.to(torch.int64), torch.arange(LARGE).remainder(97)))
    check("numbers written into an empty one", torch.equal(torch.empty(LARGE).copy_(counts), counts))
    check("cat and stack", torch.equal(torch.cat([counts, torch.empty(LARGE), counts])[-LARGE:], counts) and torch.equal(torch.stack([torch.empty(LARGE), counts], dim=1)[:, 1], counts))
    part = torch.zeros(LARGE)
    part[5:9].normal_()
    part[LARGE // 2] = 7
    check("zeros of which a part was drawn", part.clone()[9:].sum() == 7 and part.half()[LARGE // 2] == 7)
    part[: 2 << 20].normal_()
    check("zeros of which a large part was drawn", part[2 << 20 :].eq(0).all() and part.clone()[2 << 20 :].eq(0).all() and torch.add(part, 1)[2 << 20 :].eq(1).all())
    drawn = torch.empty(LARGE // 4, 4).normal_()
    drawn[1000] = torch.arange(4.0)
    drawn.mul_(2)
    check("a row written into what was drawn", drawn.clone().double()[1000].tolist() == [0, 2, 4, 6])
    counts.zero_()
    check("zeros again", counts.eq(0).all() and torch.zeros(LARGE, dtype=torch.int64).add_(1).eq(1).all())
    check("ones", torch.full((LARGE,), 2.5).eq(2.5).all() and torch.full_like(counts, -0.0).signbit().all())
    grown = torch.arange(LARGE, dtype=torch.float32).resize_(2 * LARGE)
    check("resized", grown.clone()[LARGE - 1] == LARGE - 1)
    far = torch.empty(LARGE).normal_()
    check("comparisons with what lies outside", not ((far < -2) | (far > 2)).any() and (far >= -5).all() and not (far <= 0).any() and (far < 1).all() and not far.is_pinned())
    masks = torch.rand(LARGE) < 0.5, 0.5 > torch.rand(LARGE), torch.full((LARGE,), 0.5).gt(torch.rand(LARGE))
    check("masks of what was drawn", all(0.45 < mask.float().mean() < 0.55 for mask in masks), str([mask.float().mean().item() for mask in masks]))


def written_by_others():
    array = torch.empty(LARGE).numpy()
    array[:] = numpy.arange(LARGE) % 97
    seen = torch.from_numpy(array)
    check("written by NumPy", torch.equal(seen.clone(), counted()) and torch.equal(seen.half().float(), counted()) and torch.equal(seen.clone().mul_(2), counted() * 2))
    under = torch.empty(LARGE)
    under.numpy()[:] = 3
    check("written by NumPy underneath", under.clone().eq(3).all() and under.add(1).eq(4).all() and under.mul_(2).eq(6).all() and (under < 7).all())
    file = io.BytesIO()
    torch.save({"a": counted(), "b": counted(torch.bfloat16)}, file)
    file.seek(0)
    loaded = torch.load(file)
    check("saved and loaded", torch.equal(loaded["a"].clone(), counted()) and torch.equal(loaded["b"].float(), counted()) and torch.equal(loaded["a"].mul_(3), counted() * 3))
    shared = counted().share_memory_()
    child = multiprocessing.get_context("fork").Process(target=lambda: numpy.add(shared.numpy(), 1, out=shared.numpy()))  # not torch's threads, which a fork leaves behind
    child.start()
    child.join()
    check("shared with a child", child.exitcode == 0 and torch.equal(shared.clone(), counted() + 1))
    loader = torch.utils.data.DataLoader([(counted(), torch.arange(LARGE))] * 4, batch_size=2, num_workers=2)
    check("from workers", all(torch.equal(x.clone()[1], counted()) and torch.equal(i.to(torch.float64)[0].long(), torch.arange(LARGE)) for x, i in loader))


def more_than(before, name, most=64 << 20):
    """How much more was resident at one time than before."""
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    check(name, more < most, f"{more:,} bytes more")


def memory():
    """Of 24 GiB that are asked for."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    layers = torch.nn.ModuleList([torch.nn.Linear(8192, 8192) for _ in range(16)] + [torch.nn.Embedding(100_000, 4096, padding_idx=1)])
    more_than(before, "memory of layers")
    state = {name: value.clone() for name, value in layers.state_dict().items()}
    check("a padding row", state["16.weight"][1].eq(0).all())
    more_than(before, "memory of a copied state")
    half = [value.to(torch.bfloat16) for value in state.values()]
    layers.load_state_dict(state)
    joined = torch.stack([value for value in half[:32:2]])
    more_than(before, "memory of casts, a loaded state and a stack")
    torch.nn.init.trunc_normal_(layers[0].weight, std=0.02)
    torch.nn.init.kaiming_uniform_(layers[1].weight)
    torch.nn.init.xavier_normal_(layers[2].weight)
    zeros = torch.zeros(1 << 28, dtype=torch.int64)
    scaled = layers[3].weight.detach() * 0.1 + layers[4].weight.detach()
    more_than(before, "memory of initialisers and zeros")
    card = [value.to("cuda") for value in half] + [joined.cuda(), scaled.to("cuda", non_blocking=True)]
    pinned = [value.pin_memory() for value in half[:8]]
    back = [value.cpu() for value in card[:8]]
    more_than(before, "memory of what went to the card and back", 96 << 20)
    check("what was asked for", sum(x.nbytes for x in [*state.values(), *half, joined, zeros, scaled, *pinned, *back]) > 12 << 30)
    del layers, state, half, joined, zeros, scaled, pinned, back
    numbers = [counted() for _ in range(4)]
    del numbers
    more_than(before, "memory of what was written and freed", 160 << 20)


if __name__ == "__main__":
    torch.manual_seed(0)
    for part in [memory, shapes, written_values, written_by_others]:  # memory first: its high-water mark only rises
        part()
    torch.ones(1, device="cuda")
    print(json.dumps({"passed": passed, "failed": failed}))
    sys.stdout.flush()
