"""What must pass through untouched: errors, sparse, nested, quantised and complex tensors, run-time compiled functions."""

import torch
from integer_cases import bits, case, numbers
from integers_in_modes import tokens


@case
def errors_pass_unchanged(d):
    texts = []
    for wrong in (lambda: numbers(d, 3) + numbers(d, 4), lambda: torch.cat([numbers(d, 2, 2), numbers(d, 3, 3)]), lambda: numbers(d, 3).view(2, 2), lambda: numbers(d, 4)[9], lambda: torch.arange(3, device=d).sort(dim=5)):
        try:
            wrong()
            texts.append("no error")
        except Exception as error:
            texts.append(type(error).__name__ + str(error).split("\n")[0][:60])
    return [texts, tokens(d)]


@case
def failed_sized_operations_leave_nothing_behind(d):
    for wrong in (lambda: torch.unique(numbers(d, 4), dim=7), lambda: torch.nonzero(numbers(d, 4), out=torch.empty(0, dtype=torch.int32, device=d)), lambda: numbers(d, 4)[bits(d, 5)]):
        try:
            wrong()
        except Exception:
            pass
    return [numbers(d, 4)[1].item(), numbers(d, 4).tolist(), numbers(d, 50).unique(), int(numbers(d, 4).sum())]


@case
def sparse(d):
    x = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3, 4, 5]), (2, 4)).to(d)
    return [x._indices(), x._values(), x.coalesce().indices()]


@case
def sparse_floats_run(d):
    x = torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]], device=d), torch.ones(3, device=d), (2, 4))
    return [tuple((x + x).shape), x.coalesce().is_coalesced()]


@case
def nested_jagged(d):
    x = torch.nested.nested_tensor([torch.zeros(3, 4), torch.zeros(5, 4)], layout=torch.jagged, device=d)
    return [x.offsets(), (x * 2).offsets(), torch.nested.nested_tensor([numbers(d, 3), numbers(d, 2)], layout=torch.jagged, device=d).values(), torch.nested.to_padded_tensor(x, 0.0).shape]


@case
def nested_strided(d):
    x = torch.nested.nested_tensor([torch.zeros(3, 4), torch.zeros(5, 4)], device=d)
    return [x.size(0), [tuple(t.shape) for t in x.unbind()]]


@case
def quantised(d):
    x = torch.quantize_per_tensor(torch.zeros(3, 4, device=d), 0.5, 2, torch.qint8)
    return [x.q_zero_point(), x.shape]


@case
def special_functions_run(d):
    x = torch.rand(5, device=d)
    return [
        f(x).shape
        for f in (
            torch.special.i0,
            torch.special.i0e,
            torch.special.i1,
            torch.special.digamma,
            torch.erfinv,
            torch.special.ndtri,
            torch.special.log_ndtr,
            torch.lgamma,
            torch.sinc,
            torch.special.entr,
            torch.special.bessel_j0,
            torch.special.airy_ai,
            torch.special.erfcx,
        )
    ]


@case
def complex_runs(d):
    x = torch.ones(3, dtype=torch.complex64, device=d)
    return [(x * x).shape, x.abs().shape, x.conj().shape, x.angle().shape, x.prod().shape, (x + 1).sum().shape]
