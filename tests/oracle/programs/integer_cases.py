"""The list of cases, and numbers that are the same on every device."""

import torch

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def cases(prefix, **functions):
    for name, function in functions.items():
        CASES[f"{prefix}.{name}"] = function


def numbers(device, *shape, dtype=torch.int64, low=-9, high=10, seed=0):
    """The same numbers on every device."""
    data = torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))
    return data.to(dtype).to(device)


def bits(device, *shape, seed=0):
    return numbers(device, *shape, low=0, high=2, seed=seed).bool()
