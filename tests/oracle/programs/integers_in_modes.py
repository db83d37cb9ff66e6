"""The same inside backward, checkpoints, threads, autocast, function transforms, dispatch modes and subclasses."""

import torch
from integer_cases import bits, case, cases, numbers


def gradient_shapes_and_counts(function, d):
    """Calls `function` with a float leaf and returns the shape of its gradient: sizes inside backward come from integers."""
    leaf = torch.zeros(6, 5, device=d, requires_grad=True)
    function(leaf, d).sum().backward()
    return leaf.grad.shape


def _indexed(leaf, d):
    return leaf[bits(d, 6, 5, seed=1)]


cases(
    "backward",
    boolean_index=lambda d: gradient_shapes_and_counts(_indexed, d),
    boolean_index_put=lambda d: gradient_shapes_and_counts(lambda leaf, d: leaf.index_put((bits(d, 6, 5, seed=1),), torch.ones((), device=d)), d),
    boolean_assignment=lambda d: boolean_assignment(d),
    masked_select=lambda d: gradient_shapes_and_counts(lambda leaf, d: leaf.masked_select(bits(d, 6, 5, seed=1)), d),
    masked_scatter=lambda d: masked_scatter(d),
    masked_fill=lambda d: gradient_shapes_and_counts(lambda leaf, d: leaf.masked_fill(bits(d, 6, 5, seed=1), 0.0), d),
    gather=lambda d: gradient_shapes_and_counts(lambda leaf, d: leaf.gather(1, numbers(d, 6, 2, low=0, high=5)), d),
    embedding=lambda d: embedding(d),
    cross_entropy=lambda d: cross_entropy(d),
    nonzero_in_checkpoint=lambda d: [in_checkpoint(_indexed, d, reentrant=False), in_checkpoint(_indexed, d, reentrant=True)],
    custom_function=lambda d: custom_function(d),
    hook=lambda d: tensor_hook(d),
)


def boolean_assignment(d):
    leaf, mask = torch.zeros(6, 5, device=d, requires_grad=True), bits(d, 6, 5, seed=1)
    values = torch.zeros(int(mask.sum()), device=d, requires_grad=True)
    x = leaf * 1
    x[mask] = values
    x.sum().backward()
    return [leaf.grad.shape, values.grad.shape]


def masked_scatter(d):
    leaf, mask = torch.zeros(6, 5, device=d, requires_grad=True), bits(d, 6, 5, seed=1)
    source = torch.zeros(int(mask.sum()), device=d, requires_grad=True)
    leaf.masked_scatter(mask, source).sum().backward()
    return [leaf.grad.shape, source.grad.shape]


def embedding(d):
    table = torch.nn.Embedding(10, 4, padding_idx=0).to(d)
    table(numbers(d, 3, 5, low=0, high=10)).sum().backward()
    sparse = torch.nn.Embedding(10, 4, sparse=True).to(d)
    sparse(numbers(d, 3, 5, low=0, high=10)).sum().backward()
    gradient = sparse.weight.grad
    return [table.weight.grad.shape, gradient._indices()]


def cross_entropy(d):
    logits = torch.zeros(8, 11, device=d, requires_grad=True)
    target = numbers(d, 8, low=0, high=11).masked_fill(bits(d, 8), -100)
    torch.nn.functional.cross_entropy(logits, target, ignore_index=-100).backward()
    return [logits.grad.shape, (target != -100).sum()]


def in_checkpoint(function, d, reentrant):
    from torch.utils.checkpoint import checkpoint

    seen = []

    def forward(leaf):
        picked = function(leaf, d)
        seen.append(tuple(picked.shape))
        return picked

    leaf = torch.zeros(6, 5, device=d, requires_grad=True)
    checkpoint(forward, leaf, use_reentrant=reentrant).sum().backward()
    return [leaf.grad.shape, seen]


def custom_function(d):
    seen = []

    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, mask):
            ctx.save_for_backward(mask)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (mask,) = ctx.saved_tensors
            seen.append([mask.nonzero().shape, int(mask.sum()), mask.T.tolist(), grad[mask].shape])
            return grad, None

    leaf = torch.zeros(6, 5, device=d, requires_grad=True)
    Pick.apply(leaf, bits(d, 6, 5, seed=1)).sum().backward()
    return seen


def tensor_hook(d):
    seen = []
    leaf = torch.zeros(6, 5, device=d, requires_grad=True)
    y = leaf * 2
    y.register_hook(lambda grad: seen.append((torch.arange(5, device=d) > 2).sum().item()))
    y.sum().backward()
    return seen


def tokens(d):
    """A little of everything, for use under another mode."""
    a, m = numbers(d, 6, 5), bits(d, 6, 5, seed=1)
    return [a[m], m.nonzero(), a.cumsum(1), a.unique(), (a > 2).sum().item(), a.T.tolist(), torch.where(m, a, 0), a.masked_fill(m, -1), torch.arange(4, device=d) * 2]


@case
def in_threads(d):
    import threading

    found = []
    threads = [threading.Thread(target=lambda: found.append(tokens(d))) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return found


@case
def in_a_thread_pool(d):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(tokens, [d, d, d]))


@case
def in_backward_of_a_thread(d):
    import threading

    found = []
    t = threading.Thread(target=lambda: found.append(custom_function(d)))
    t.start()
    t.join()
    return found


@case
def under_autocast(d):
    with torch.autocast(d, torch.bfloat16):
        return [tokens(d), gradient_shapes_and_counts(_indexed, d)]


@case
def under_no_grad(d):
    with torch.no_grad():
        return tokens(d)


@case
def under_inference_mode(d):
    with torch.inference_mode():
        return tokens(d)


@case
def under_default_device(d):
    with torch.device(d):
        return [torch.arange(4) + 1, torch.ones(3, dtype=torch.int64).cumsum(0), torch.tensor([1, 2]), torch.eye(2, dtype=torch.bool)]


@case
def under_a_dispatch_mode(d):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Through(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    with Through():
        return [tokens(d), custom_function(d)]


@case
def under_a_function_mode(d):
    from torch.overrides import TorchFunctionMode

    class Through(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    with Through():
        return tokens(d)


@case
def under_vmap(d):
    return [
        torch.vmap(lambda row: row.cumsum(0) + 1)(numbers(d, 3, 5)),
        torch.vmap(lambda row, k: row.index_select(0, k.view(1)))(numbers(d, 3, 5), torch.tensor([0, 2, 4], device=d)),
        torch.func.vmap(lambda a: (a > 2).sum())(numbers(d, 3, 5)),
        torch.vmap(lambda i: i * 2)(torch.arange(4, device=d)),
    ]


@case
def under_grad_transforms(d):
    mask = bits(d, 6, 5, seed=1)
    gradient = torch.func.grad(lambda x: (x * mask).sum())(torch.zeros(6, 5, device=d))
    return [gradient.shape, torch.func.vjp(lambda x: x[mask].sum(), torch.zeros(6, 5, device=d))[1](torch.ones((), device=d))[0].shape]


@case
def under_fake_tensors(d):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        shape = (torch.arange(5, device=d) * 2).shape
    return [shape, tokens(d)]


@case
def under_meta(d):
    torch.arange(5, device="meta").cumsum(0)
    return tokens(d)


@case
def in_a_subclass(d):
    class Wrapped(torch.Tensor):
        pass

    x = numbers(d, 6).as_subclass(Wrapped)
    return [(x + 1).as_subclass(torch.Tensor), x.cumsum(0).as_subclass(torch.Tensor), x[x > 0].as_subclass(torch.Tensor), x.tolist()]


@case
def in_a_dtensor(d):
    import torch.distributed as dist
    from torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh

    if not dist.is_initialized():
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh(d, (1,))
    x = distribute_tensor(numbers(d, 6, 4), mesh, [Replicate()])
    local = x.to_local()  # what a subclass computes inside itself is not seen: its sizes are right, its integers are not
    return [local, local + 1, local.cumsum(0), (x + 1).shape, distribute_tensor(torch.arange(6, device=d), mesh, [Replicate()]).to_local().tolist()]


@case
def on_a_side_stream(d):
    if d == "cpu":
        return tokens(d)
    with torch.cuda.stream(torch.cuda.Stream()):
        return tokens(d)


@case
def in_torch_script(d):
    @torch.jit.script
    def f(x: torch.Tensor):
        return x.cumsum(0) * 2 + (x > 3).to(torch.int64)

    return f(numbers(d, 9))


@case
def in_a_parameter_and_buffer(d):
    module = torch.nn.Module()
    module.register_buffer("positions", torch.arange(6))
    module.register_parameter("scale", torch.nn.Parameter(torch.arange(3), requires_grad=False))
    module.to(d)
    state = {k: v.clone() for k, v in module.state_dict().items()}
    module.positions.add_(1)
    module.load_state_dict(state)
    return [module.positions, module.scale, state["positions"]]


@case
def in_saved_files(d):
    import io

    file = io.BytesIO()
    torch.save(numbers(d, 4, 5).T, file)
    file.seek(0)
    return torch.load(file, map_location=d)


@case
def masks_drawn_on_the_host(d):
    """Large random host data is not drawn unless something is decided by it."""
    mask = (torch.rand(700, 1000) < 0.15).to(d)
    share = mask.sum().item() / mask.numel()
    drawn = torch.bernoulli(torch.full((700, 1000), 0.15)).bool().to(d).sum().item() / 700_000
    return [0.13 < share < 0.17, 0.13 < drawn < 0.17]
