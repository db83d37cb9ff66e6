"""Operations on integers and booleans: factories, arithmetic, indexing, sorting, sizes that depend on data, writing in place, drawing."""

import torch
from integer_cases import bits, case, cases, numbers

cases(
    "factory",
    arange=lambda d: [torch.arange(7, device=d), torch.arange(2, 20, 3, device=d), torch.arange(5, 0, -1, dtype=torch.int32, device=d)],
    full=lambda d: [torch.full((3, 4), 5, device=d), torch.ones(3, dtype=torch.int16, device=d), torch.zeros(2, 2, dtype=torch.bool, device=d)],
    like=lambda d: [torch.full_like(numbers(d, 3), 8), torch.ones_like(bits(d, 3)), torch.zeros_like(numbers(d, 3)), numbers(d, 2).new_full((2, 2), 3), numbers(d, 2).new_ones(4)],
    like_floats=lambda d: [
        torch.ones_like(torch.rand(3, device=d), dtype=torch.int64),
        torch.full_like(torch.rand(2, 3, device=d), 8, dtype=torch.int64),
        torch.rand(2, device=d).new_full((2, 2), 3, dtype=torch.int64),
        torch.rand(2, device=d).new_ones(4, dtype=torch.bool),
    ],
    like_floats_drawn=lambda d: (torch.randint_like(torch.rand(64, device=d), 1, 9, dtype=torch.int64) > 0).all(),
    eye=lambda d: [torch.eye(4, dtype=torch.int64, device=d), torch.eye(3, 5, dtype=torch.bool, device=d)],
    tril=lambda d: [torch.tril(torch.ones(5, 5, dtype=torch.int64, device=d)), torch.ones(4, 6, dtype=torch.bool, device=d).triu(1), torch.tril_indices(4, 4, device=d)],
    tensor=lambda d: [torch.tensor([[1, 2], [3, 4]], device=d), torch.tensor(7, device=d), torch.tensor([True, False], device=d), torch.as_tensor([1, 2, 3], device=d)],
    linspace=lambda d: torch.linspace(0, 10, 6, dtype=torch.int64, device=d),
    cartesian=lambda d: [torch.cartesian_prod(torch.arange(3, device=d), torch.arange(2, device=d)), torch.combinations(torch.arange(4, device=d))],
    meshgrid=lambda d: list(torch.meshgrid(torch.arange(3, device=d), torch.arange(4, device=d), indexing="ij")),
    scalar_tensor=lambda d: torch.scalar_tensor(4, dtype=torch.int64, device=d),
    zeros_empty=lambda d: [torch.zeros(0, 3, dtype=torch.int64, device=d), torch.arange(0, device=d)],
)
cases(
    "arithmetic",
    add=lambda d: numbers(d, 3, 4) + numbers(d, 4, seed=1),
    add_alpha=lambda d: torch.add(numbers(d, 3, 4), numbers(d, 3, 4, seed=1), alpha=3),
    mixed=lambda d: numbers(d, 3, dtype=torch.int32) * numbers(d, 3, seed=1),
    boolean=lambda d: bits(d, 4) + numbers(d, 4),
    scalar=lambda d: [numbers(d, 4) * 3, 7 - numbers(d, 4), numbers(d, 4) // 2, numbers(d, 4) % 5, numbers(d, 4) ** 2],
    floor_divide=lambda d: torch.div(numbers(d, 8), 3, rounding_mode="floor"),
    trunc_divide=lambda d: torch.div(numbers(d, 8), 3, rounding_mode="trunc"),
    remainder=lambda d: [torch.remainder(numbers(d, 8), 4), torch.fmod(numbers(d, 8), 4)],
    unary=lambda d: [-numbers(d, 5), numbers(d, 5).abs(), numbers(d, 5).sign(), torch.square(numbers(d, 5)), torch.positive(numbers(d, 5))],
    bitwise=lambda d: [numbers(d, 5) & 3, numbers(d, 5) | 8, numbers(d, 5) ^ 5, ~numbers(d, 5), numbers(d, 5, low=0) << 2, numbers(d, 5, low=0) >> 1],
    gcd=lambda d: [torch.gcd(numbers(d, 9), numbers(d, 9, seed=2)), torch.lcm(numbers(d, 9), numbers(d, 9, seed=2))],
    clamp=lambda d: [numbers(d, 9).clamp(-2, 3), numbers(d, 9).clamp(min=0), torch.clamp(numbers(d, 9), max=torch.tensor(2, device=d))],
    minmax=lambda d: [torch.minimum(numbers(d, 9), numbers(d, 9, seed=1)), torch.maximum(numbers(d, 9), numbers(d, 9, seed=1)), *torch.aminmax(numbers(d, 9))],
    in_place=lambda d: [numbers(d, 4).add_(2), numbers(d, 4).mul_(3), numbers(d, 4).sub_(numbers(d, 4, seed=1)), numbers(d, 4).clamp_(0), numbers(d, 4).neg_(), numbers(d, 4).bitwise_not_()],
    in_place_operators=lambda d: in_place_operators(d),
    out=lambda d: torch.add(numbers(d, 3), 1, out=torch.empty(3, dtype=torch.int64, device=d)),
    out_resized=lambda d: torch.mul(numbers(d, 3), 2, out=torch.empty(0, dtype=torch.int64, device=d)),
    addcmul=lambda d: torch.addcmul(numbers(d, 3), numbers(d, 3, seed=1), numbers(d, 3, seed=2), value=2),
    matmul=lambda d: torch.sum(numbers(d, 3, 4).unsqueeze(-1) * numbers(d, 4, 5, seed=1), 1),
    foreach=lambda d: torch._foreach_add([numbers(d, 3), numbers(d, 4)], 2),
    foreach_in_place=lambda d: foreach_in_place(d),
    diff=lambda d: [torch.diff(numbers(d, 7)), torch.diff(numbers(d, 3, 4), dim=0, prepend=numbers(d, 1, 4, seed=1))],
    trapezoid=lambda d: torch.cross(numbers(d, 3, 3), numbers(d, 3, 3, seed=1), dim=-1),
    uint8_wraps=lambda d: numbers(d, 9, dtype=torch.uint8, low=200, high=256) + 100,
    int8_wraps=lambda d: numbers(d, 9, dtype=torch.int8, low=100, high=127) * 2,
)


def in_place_operators(d):
    a, b, m = numbers(d, 6), numbers(d, 6, seed=3), bits(d, 6)
    a += b
    a *= 2
    a -= 1
    a //= 2
    m &= a > 0
    m |= b > 4
    m ^= b < 0
    return [a, m]


def foreach_in_place(d):
    some = [numbers(d, 3), numbers(d, 4, seed=1)]
    torch._foreach_add_(some, 3)
    torch._foreach_mul_(some, some)
    torch._foreach_zero_(some[:1])
    return some


cases(
    "compare",
    scalar=lambda d: [numbers(d, 9) == 3, numbers(d, 9) != 3, numbers(d, 9) < 0, numbers(d, 9) <= 0, numbers(d, 9) > 2, numbers(d, 9) >= 2],
    tensor=lambda d: [numbers(d, 3, 3) == numbers(d, 3, seed=1), torch.ge(numbers(d, 9), numbers(d, 9, seed=1)), torch.ne(bits(d, 9), bits(d, 9, seed=1))],
    logical=lambda d: [torch.logical_and(bits(d, 9), bits(d, 9, seed=1)), torch.logical_or(numbers(d, 9), bits(d, 9)), torch.logical_not(numbers(d, 9)), torch.logical_xor(bits(d, 9), bits(d, 9, seed=1)), ~bits(d, 9)],
    equal=lambda d: [torch.equal(numbers(d, 9), numbers(d, 9)), torch.equal(numbers(d, 9), numbers(d, 9, seed=1)), torch.equal(bits(d, 3), bits(d, 3))],
    isin=lambda d: [torch.isin(numbers(d, 20), torch.tensor([1, 3, 5], device=d)), torch.isin(numbers(d, 200), numbers(d, 100, seed=3)), torch.isin(numbers(d, 9), 3)],
    any_all=lambda d: [bits(d, 4).any(), bits(d, 4).all(), bits(d, 3, 4).any(1), bits(d, 3, 4).all(0), numbers(d, 3, 4).any(-1, keepdim=True), (numbers(d, 4) < 99).all()],
    any_all_read=lambda d: [bool((numbers(d, 4) < 99).all()), bool((numbers(d, 4) > 99).any()), (numbers(d, 4) < 99).all().item()],
    isnan=lambda d: [numbers(d, 4).isnan(), numbers(d, 4).isfinite(), numbers(d, 4).isinf()],
    allclose=lambda d: torch.allclose(numbers(d, 4), numbers(d, 4)),
    signbit=lambda d: torch.signbit(numbers(d, 9)),
)
cases(
    "reduce",
    sum=lambda d: [numbers(d, 3, 4).sum(), numbers(d, 3, 4).sum(1), numbers(d, 3, 4).sum((0, 1), keepdim=True), bits(d, 9).sum(), numbers(d, 9, dtype=torch.int32).sum(dtype=torch.int32)],
    prod=lambda d: [numbers(d, 4, low=1).prod(), numbers(d, 3, 4).prod(1), bits(d, 3).prod()],
    max=lambda d: [numbers(d, 9).max(), *numbers(d, 3, 5).max(1), numbers(d, 3, 5).amax((0, 1)), bits(d, 3).max()],
    min=lambda d: [numbers(d, 9).min(), *numbers(d, 3, 5).min(0, keepdim=True), numbers(d, 3, 5).amin(1)],
    argmax=lambda d: [torch.tensor([3, 9, 2], device=d).argmax(), torch.tensor([[3, 9, 2], [7, 1, 4]], device=d).argmax(-1), torch.tensor([[3, 9, 2], [7, 1, 4]], device=d).argmin(0)],
    count_nonzero=lambda d: [torch.count_nonzero(numbers(d, 5, 6, low=0, high=3)), torch.count_nonzero(bits(d, 5, 6), dim=1)],
    cumsum=lambda d: [numbers(d, 9).cumsum(0), bits(d, 3, 4).cumsum(1), numbers(d, 3, 4, dtype=torch.int32).cumsum(0), numbers(d, 3, 4, dtype=torch.int32).cumsum(0, dtype=torch.int32)],
    cumsum_in_place=lambda d: numbers(d, 9).cumsum_(0),
    cumprod=lambda d: numbers(d, 6, low=1, high=4).cumprod(0),
    cummax=lambda d: [numbers(d, 9).cummax(0).values, numbers(d, 9).cummin(0).values],
    bincount=lambda d: [torch.bincount(numbers(d, 30, low=0)), torch.bincount(numbers(d, 30, low=0), minlength=20)],
    histc=lambda d: torch.histc(numbers(d, 30, low=0) if d == "cuda" else numbers(d, 30, low=0).float(), bins=5, min=0, max=9).long(),
    mode=lambda d: torch.tensor([1, 3, 3, 2, 3], device=d).mode().values,
    median=lambda d: [numbers(d, 9).median(), numbers(d, 3, 5).median(1).values, numbers(d, 9).kthvalue(3).values],
    trace=lambda d: [torch.trace(numbers(d, 4, 4)), numbers(d, 4, 4).diagonal().sum()],
    dim_sizes=lambda d: [int(numbers(d, 9).max()), int(bits(d, 99).sum()), float(numbers(d, 9).sum())],
)
cases(
    "order",
    sort=lambda d: [numbers(d, 20).sort().values, numbers(d, 3, 20).sort(1, descending=True).values, *numbers(d, 30).sort(stable=True), numbers(d, 3, 9).sort(0).values],
    argsort=lambda d: [torch.argsort(numbers(d, 40), stable=True), torch.argsort(torch.randperm(50, generator=torch.Generator().manual_seed(0)).to(d)), torch.arange(9, device=d).argsort(descending=True)],
    sort_large=lambda d: numbers(d, 5000, low=0, high=1 << 40).sort().values,
    topk=lambda d: [torch.arange(30, device=d).topk(4).values, torch.arange(30, device=d).topk(4).indices, torch.arange(30, device=d).view(3, 10).topk(2, largest=False).indices],
    unique=lambda d: [torch.unique(numbers(d, 50)), *torch.unique(numbers(d, 50), return_inverse=True), *torch.unique(numbers(d, 50), return_inverse=True, return_counts=True)],
    unique_bool=lambda d: [torch.unique(bits(d, 50)), *torch.unique(bits(d, 50), return_inverse=True, return_counts=True), torch.unique(torch.ones(4, dtype=torch.bool, device=d))],
    unique_dim=lambda d: [torch.unique(numbers(d, 20, 2, low=0, high=3), dim=0), *torch.unique(numbers(d, 2, 20, low=0, high=3), dim=1, return_inverse=True, return_counts=True)],
    unique_consecutive=lambda d: [
        torch.unique_consecutive(numbers(d, 50, low=0, high=3)),
        *torch.unique_consecutive(numbers(d, 50, low=0, high=3), return_inverse=True, return_counts=True),
        torch.unique_consecutive(numbers(d, 9, 2, low=0, high=2), dim=0),
    ],
    unique_small_types=lambda d: [torch.unique(numbers(d, 50, dtype=t)) for t in (torch.int8, torch.int16, torch.int32)],
    searchsorted=lambda d: [torch.searchsorted(torch.arange(0, 20, 3, device=d), numbers(d, 9, low=0)), torch.bucketize(numbers(d, 9), torch.tensor([0, 3, 6], device=d), right=True)],
    flip=lambda d: [numbers(d, 3, 4).flip(0), numbers(d, 3, 4).roll(1, 1), numbers(d, 4, 4).rot90(), torch.fliplr(numbers(d, 3, 3))],
    msort=lambda d: torch.msort(numbers(d, 9)),
)
cases(
    "select",
    nonzero=lambda d: [bits(d, 5, 6).nonzero(), numbers(d, 30, low=0, high=3).nonzero(), *bits(d, 5, 6).nonzero(as_tuple=True), torch.zeros(4, dtype=torch.bool, device=d).nonzero()],
    nonzero_static=lambda d: torch.nonzero_static(bits(d, 5, 6), size=40, fill_value=-1),
    argwhere=lambda d: torch.argwhere(bits(d, 4, 4)),
    masked_select=lambda d: [numbers(d, 5, 6).masked_select(bits(d, 5, 6, seed=1)), numbers(d, 5, 6).masked_select(bits(d, 6, seed=1))],
    boolean_index=lambda d: [numbers(d, 5, 6)[bits(d, 5, 6, seed=1)], numbers(d, 5, 6)[bits(d, 5, seed=1)], numbers(d, 5, 6)[:, bits(d, 6, seed=1)]],
    integer_index=lambda d: [numbers(d, 9)[numbers(d, 4, low=0, high=9, seed=1)], numbers(d, 5, 6)[numbers(d, 4, low=0, high=5), numbers(d, 4, low=0, high=6)], numbers(d, 5, 6)[..., numbers(d, 2, 2, low=0, high=6)]],
    mixed_index=lambda d: numbers(d, 4, 5, 6)[numbers(d, 3, low=0, high=4), :, numbers(d, 3, low=0, high=6)],
    index_select=lambda d: [
        numbers(d, 5, 6).index_select(1, numbers(d, 4, low=0, high=6)),
        numbers(d, 5, 6).take(numbers(d, 4, low=0, high=30)),
        torch.take_along_dim(numbers(d, 3, 5), torch.argsort(numbers(d, 3, 5), dim=1, stable=True), 1),
    ],
    gather=lambda d: numbers(d, 5, 6).gather(1, numbers(d, 5, 2, low=0, high=6)),
    where=lambda d: [torch.where(bits(d, 9), numbers(d, 9), 0), torch.where(bits(d, 9), numbers(d, 9), numbers(d, 9, seed=1)), *torch.where(bits(d, 9))],
    slices=lambda d: [numbers(d, 9)[2:7:2], numbers(d, 5, 6)[1:, ::2], numbers(d, 5, 6).T[2], numbers(d, 9)[-1], numbers(d, 9).narrow(0, 2, 3), numbers(d, 5, 6).select(1, 2)],
    lists=lambda d: [numbers(d, 5, 6).T.tolist(), numbers(d, 5, 6)[:, 1].tolist(), numbers(d, 3).expand(2, 3).tolist(), numbers(d, 9)[::3].tolist(), bits(d, 4, 4).T[1].tolist(), [int(v) for v in numbers(d, 4)]],
    item=lambda d: [numbers(d, 4)[2].item(), bits(d, 4)[1].item(), numbers(d, 4, 4).T[1, 2].item(), int(numbers(d, 4).sum()), torch.tensor(5, device=d).item()],
    if_true=lambda d: [1 if bits(d, 1).any() else 0, 1 if numbers(d, 4)[0] == numbers("cpu", 4)[0] else 0],
    isin_mask=lambda d: numbers(d, 50)[torch.isin(numbers(d, 50), torch.arange(3, device=d))],
    repeat_interleave=lambda d: [
        numbers(d, 4).repeat_interleave(3),
        numbers(d, 4).repeat_interleave(torch.tensor([1, 0, 2, 3], device=d)),
        numbers(d, 4, 2).repeat_interleave(torch.tensor([1, 0, 2, 3], device=d), dim=0),
        torch.repeat_interleave(torch.tensor([2, 1, 4], device=d)),
    ],
    repeat_interleave_sized=lambda d: torch.repeat_interleave(numbers(d, 3), torch.tensor([2, 1, 4], device=d), output_size=7),
    diagonal=lambda d: [torch.diag(numbers(d, 3)), torch.diag(numbers(d, 3, 3)), torch.diag_embed(numbers(d, 2, 3)), torch.block_diag(numbers(d, 2, 2), numbers(d, 1, 3))],
    unfold=lambda d: numbers(d, 9).unfold(0, 3, 2),
)


@case
def write_index_put(d):
    a = numbers(d, 5, 6)
    a[bits(d, 5, 6, seed=1)] = 77
    a[numbers(d, 3, low=0, high=5)] = numbers(d, 6, seed=2)
    a[0] = 4
    a[:, 1] = torch.arange(5, device=d)
    a[1:3, ::2] = -1
    return a


@case
def write_index_put_accumulate(d):
    a = torch.zeros(5, dtype=torch.int64, device=d)
    return a.index_put_((numbers(d, 20, low=0, high=5),), torch.ones(20, dtype=torch.int64, device=d), accumulate=True)


@case
def write_boolean_values(d):
    a, mask = numbers(d, 5, 6), bits(d, 5, 6, seed=1)
    a[mask] = torch.arange(int(mask.sum()), device=d)
    return a


@case
def write_masked(d):
    mask = bits(d, 4, 5, seed=1)
    return [numbers(d, 4, 5).masked_fill(mask, 9), numbers(d, 4, 5).masked_fill_(mask, -3), numbers(d, 4, 5).masked_scatter(mask, numbers(d, 30, seed=4)), numbers(d, 4, 5).masked_scatter_(bits(d, 5), numbers(d, 30, seed=4))]


@case
def write_scatter(d):
    zeros, index = torch.zeros(3, 5, dtype=torch.int64, device=d), torch.arange(3, device=d).view(3, 1)
    source = numbers(d, 3, 8)
    many = numbers(d, 3, 8, low=0, high=5)
    return [
        zeros.scatter(1, index, 1),
        zeros.scatter(1, index, source),
        zeros.scatter_add(1, many, source),
        zeros.scatter_reduce(1, many, source, "amax"),
        zeros.clone().scatter_(1, index, source[:, :1]),
        zeros.clone().scatter_add_(1, many, source),
    ]


@case
def write_index_add(d):
    index = numbers(d, 7, low=0, high=3)
    return [
        torch.zeros(3, 2, dtype=torch.int64, device=d).index_add(0, index, numbers(d, 7, 2)),
        torch.zeros(3, 2, dtype=torch.int64, device=d).index_fill(0, index[:2], 5),
        torch.zeros(9, dtype=torch.int64, device=d).index_copy(0, torch.tensor([1, 4], device=d), torch.tensor([7, 8], device=d)),
        torch.zeros(9, dtype=torch.int64, device=d).put_(torch.tensor([1, 4], device=d), torch.tensor([7, 8], device=d)),
    ]


@case
def write_views(d):
    a = numbers(d, 4, 6)
    a.T[2].fill_(5)
    a[:, 3].add_(100)
    a.view(-1)[::5] = 0
    a.diagonal().mul_(2)
    b = a.unbind(1)[4]
    b -= 7
    c = a.chunk(2, 1)[0]
    c.zero_()
    return [a, b, c]


@case
def write_copy(d):
    a = torch.zeros(3, 4, dtype=torch.int64, device=d)
    a.copy_(numbers(d, 4, 3).T)
    b = torch.empty(4, dtype=torch.int32, device=d).copy_(numbers(d, 4))
    c = torch.empty(4, dtype=torch.int64).copy_(numbers(d, 4))
    e = torch.empty(4, 4, dtype=torch.int16, device=d)
    e[1:3, ::2].copy_(torch.tensor([[1, 2], [3, 4]]))
    return [a, b, c, e[1:3, ::2]]


@case
def write_fill_random(d):
    a = torch.empty(6, dtype=torch.int64, device=d)
    return [a.fill_(3).clone(), a.zero_().clone(), torch.full((2,), True, device=d), numbers(d, 3, 3).fill_diagonal_(9), numbers(d, 4, 4).tril_(), numbers(d, 4, 4).triu_(1)]


cases(
    "shape",
    cat=lambda d: [
        torch.cat([numbers(d, 3), numbers(d, 2, seed=1)]),
        torch.cat([numbers(d, 2, 3), numbers(d, 2, 1)], 1),
        torch.stack([numbers(d, 3), numbers(d, 3, seed=1)], 1),
        torch.hstack([numbers(d, 2), numbers(d, 3)]),
        torch.cat([numbers(d, 3, dtype=torch.int32), numbers(d, 2)]),
    ],
    split=lambda d: [*numbers(d, 9).split(4), *numbers(d, 9).chunk(2), *numbers(d, 9).split([2, 3, 4]), *numbers(d, 2, 3).unbind(0), *torch.tensor_split(numbers(d, 9), 4)],
    split_by_list=lambda d: list(numbers(d, 9).split(torch.tensor([2, 3, 4], device=d).tolist())),
    views=lambda d: [
        numbers(d, 2, 6).view(3, 4),
        numbers(d, 2, 6).T.reshape(4, 3),
        numbers(d, 2, 3).permute(1, 0).contiguous(),
        numbers(d, 3, 1).expand(3, 4).clone(),
        numbers(d, 3).unsqueeze(1),
        numbers(d, 2, 3, 4).flatten(1),
        numbers(d, 6).unflatten(0, (2, 3)),
    ],
    repeat=lambda d: [numbers(d, 3).repeat(2, 2), numbers(d, 2, 2).tile(2), torch.broadcast_to(numbers(d, 3), (2, 3)).contiguous(), numbers(d, 3, 1).expand(-1, 4) + 1],
    pad=lambda d: [torch.nn.functional.pad(numbers(d, 2, 3), (1, 2), value=-1), torch.nn.functional.pad(bits(d, 2, 3), (0, 0, 1, 0), value=True), torch.constant_pad_nd(numbers(d, 3), (1, 1), 7)],
    one_hot=lambda d: [torch.nn.functional.one_hot(numbers(d, 6, low=0, high=4), 5), torch.nn.functional.one_hot(numbers(d, 2, 3, low=0, high=4)), torch.nn.functional.one_hot(numbers(d, 9, low=0, high=4), 4).permute(1, 0)],
    pad_sequence=lambda d: torch.nn.utils.rnn.pad_sequence([numbers(d, 3), numbers(d, 5)], batch_first=True, padding_value=-100),
    as_strided=lambda d: [numbers(d, 12).as_strided((3, 3), (4, 1), 1), numbers(d, 9).as_strided((3, 3), (1, 1)).clone()],
    overlapping=lambda d: [numbers(d, 1).expand(5).sum(), numbers(d, 9).unfold(0, 3, 1).sum(1), numbers(d, 2, 1).expand(2, 4).cumsum(1)],
    empty=lambda d: [numbers(d, 0), numbers(d, 0, 3).sum(0), torch.cat([numbers(d, 0), numbers(d, 3)]), numbers(d, 0).unique(), bits(d, 0).nonzero(), numbers(d, 3)[torch.zeros(3, dtype=torch.bool, device=d)], numbers(d, 0).cumsum(0)],
    zero_dim=lambda d: [
        torch.tensor(3, device=d) + torch.tensor(4, device=d),
        torch.tensor(3, device=d).unique(),
        torch.tensor(3, device=d).nonzero(),
        torch.tensor(3, device=d).sort().values,
        torch.tensor(True, device=d).nonzero(),
        torch.tensor(3, device=d) * 2,
    ],
    view_dtype=lambda d: [numbers(d, 4).view(torch.int32), numbers(d, 4, dtype=torch.int32).view(torch.int8), bits(d, 4).view(torch.uint8)],
)
cases(
    "convert",
    **{
        str(t).split(".")[1]: lambda d, t=t: [numbers(d, 9, dtype=t, low=0), numbers(d, 9).to(torch.int16).to(t), torch.arange(5, device=d).to(t) + 1, numbers(d, 4, dtype=t, low=0).sum(), numbers(d, 4, dtype=t, low=0).tolist()]
        for t in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool)
    },
    wide_unsigned=lambda d: [torch.arange(4).to(t).to(d).to(torch.int64) for t in (torch.uint16, torch.uint32, torch.uint64)],
    wide_unsigned_lists=lambda d: [torch.tensor([3, 4, 70], dtype=t, device=d).tolist() for t in (torch.uint16, torch.uint32, torch.uint64)],
    methods=lambda d: [numbers(d, 4).int(), numbers(d, 4).short(), numbers(d, 4).bool(), bits(d, 4).long(), numbers(d, 4, low=0).byte(), bits(d, 3, 3).T.int()],
    to_host=lambda d: [numbers(d, 4).cpu(), numbers(d, 4, 4).T.cpu(), numbers(d, 4).to("cpu", torch.int32), numbers(d, 4).to("cpu", non_blocking=True), numbers(d, 9)[::2].cpu()],
    to_device=lambda d: [torch.arange(4).to(d), torch.arange(4).to(d, non_blocking=True), torch.arange(9)[::2].to(d), torch.arange(4).to(d, torch.int32), torch.arange(12).view(3, 4).T.to(d)],
    pinned=lambda d: [torch.arange(4).pin_memory().to(d, non_blocking=True), torch.arange(12).view(3, 4).pin_memory().T.to(d)] if torch.cuda.is_available() else None,
    numpy=lambda d: [torch.from_numpy(__import__("numpy").arange(5)).to(d), torch.tensor(numbers(d, 4).cpu().numpy())],
    large=lambda d: [torch.arange(3_000_000, device=d).sum(), (torch.arange(3_000_000, device=d) % 7 == 3).sum(), torch.arange(3_000_000).to(d)[2_999_999], (torch.arange(3_000_000, device=d) % 3 == 0).nonzero().shape[0]],
    large_transposed=lambda d: torch.arange(3_000_000).view(1000, 3000).to(d).T.contiguous().sum(1)[:5],
    clone=lambda d: [numbers(d, 4).clone(), numbers(d, 2, 3).T.clone(), numbers(d, 2, 3).T.clone(memory_format=torch.contiguous_format), numbers(d, 3).detach(), __import__("copy").deepcopy(numbers(d, 3))],
    python_numbers=lambda d: [int(torch.tensor(4, device=d)), bool(torch.tensor(0, device=d)), len(numbers(d, 4)), [x for x in range(10)][torch.tensor(3, device=d)], f"{torch.tensor(3, device=d)}"],
    complex_and_float_pass_through=lambda d: [torch.complex(torch.ones(2, device=d), torch.ones(2, device=d)).shape, numbers(d, 3).float().shape],
    float_made_of_integers=lambda d: [numbers(d, 4).float().shape, torch.arange(4, device=d).double().shape, (numbers(d, 4) / 2).shape, numbers(d, 4).float().mean().shape],
)


@case
def random_in_range(d):
    r = torch.randint(3, 9, (500,), device=d)
    p = torch.randperm(100, device=d)
    b = torch.randint(0, 2, (100,), device=d, dtype=torch.bool)
    e = torch.empty(200, dtype=torch.int64, device=d).random_(5)
    return [bool(r.min() == 3), bool(r.max() == 8), p.sort().values, bool(b.any()), bool(e.max() <= 4), bool(torch.randint(5, (9,), device=d).max() < 5)]


@case
def random_advances_the_generator_as_on_a_card(d):
    if d == "cpu":
        return [True, True]
    torch.manual_seed(3)
    before = torch.cuda.get_rng_state()
    torch.randint(9, (50,), device=d).tolist()
    after = torch.cuda.get_rng_state()
    torch.manual_seed(3)
    return [not torch.equal(before, after), torch.equal(before, torch.cuda.get_rng_state())]


@case
def host_random_state_is_left_alone(d):
    torch.manual_seed(5)
    torch.randint(9, (50,), device=d), torch.randperm(9, device=d)
    if d == "cpu":
        torch.manual_seed(5)
    return torch.randint(1000, (8,))
