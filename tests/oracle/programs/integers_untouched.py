"""Large data that is zero since nobody wrote it, and the same with one element that somebody did: at its ends, in its middle, on a page's border."""

import torch
from integer_cases import case, cases, numbers

ELEMENTS = 3 << 20


def zeros(device, places=(), dtype=torch.bool):
    """(2, 1024, 1536), zero but for the elements at `places`; in memory that had other numbers before."""
    numbers(device, ELEMENTS, dtype=torch.uint8, low=1)
    data = torch.zeros(ELEMENTS, dtype=dtype, device=device)
    for place in places:
        data[place] = 1
    return data.view(2, 1024, 1536)


def results(device, places, dtype):
    x = zeros(device, places, dtype)
    other = zeros(device, (7,), dtype)
    return [
        x.all(),
        x.all(-1),
        x.all(-1, keepdim=True),
        x.any(1),
        x.sum(),
        x.sum((0, 2)),
        x.amax(-1) if dtype != torch.bool else x.any(),
        torch.count_nonzero(x, 0),
        x.nonzero(),
        x == 0,
        x != 0,
        x.logical_not(),
        x.logical_or(other),
        x.eq(numbers(device, 1, dtype=dtype)),
        torch.where(x.bool(), numbers(device, 1536), numbers(device, 1)),
        x.masked_fill(numbers(device, 1536) > 3, 1),
        x + 2,
        x[:, 1:, ::2].any(-1),
        x[1, 3:].sum(),
        x.transpose(0, 2).any(0),
        x[:, :, :1].expand(2, 1024, 1024).all(-1),
        x.contiguous().any(),
        x.to(torch.int16) * 3,
    ]


PLACES = {"nothing": (), "the_first": (0,), "the_last": (ELEMENTS - 1,), "before_a_page": (4095,), "a_page_begins": (8192,), "the_middle": (ELEMENTS // 2 + 77,)}
cases("untouched_but_for", **{f"{name}.{str(dtype)[6:]}": lambda d, places=places, dtype=dtype: results(d, places, dtype) for name, places in PLACES.items() for dtype in (torch.bool, torch.int32)})


@case
def untouched_between_what_is_not(d):
    """Views of zeros whose first and last pages hold other data as well."""
    x = torch.zeros(ELEMENTS, dtype=torch.bool, device=d)
    x[:5000] = True
    x[-5000:] = True
    return [x[5000:-5000].any(), x[4999:-5000].any(), x[5000:-4999].any(), x[5000:-5000].logical_not().all(), x[4999:-4999].sum()]


@case
def untouched_until_it_is_written(d):
    x = torch.zeros(ELEMENTS, dtype=torch.bool, device=d)
    seen = [x.any(), x.logical_not().all()]
    x[123456] = True
    seen += [x.any(), x.sum(), x.nonzero()]
    x.zero_()
    seen += [x.any(), x.sum()]
    x.logical_not_()
    return [*seen, x.all(), x.sum()]


@case
def masks_of_floats_select_nothing(d):
    """What `softmax` of a row that is masked as a whole asks for (_safe_softmax): no element is -inf, since floats are not known."""
    masked = torch.ones(2, 8, 256, 512, device=d).eq(float("-inf"))
    return [masked.all(-1, keepdim=True), masked.any(), masked.logical_not().all()]
