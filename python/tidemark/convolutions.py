"""The scratch memory that cuDNN takes for convolutions: `tidemark run --gpu CARD -- python -m tidemark.convolutions`.

Says the release of cuDNN, then answers each line "ROW of COUNT" with the bytes of the forward pass, of the weight's gradient and of the input's.  What a row
says is in src/ops/convolution_scratch.h.  cuDNN chooses among its kernels by rules that it does not publish; the real one is asked, on a virtual card.
"""

import os
import sys
from typing import NamedTuple


class Convolution(NamedTuple):
    """`kernel`, `image` and the numbers behind them are of each dimension; `hidden`: channels of the result."""

    kernel: tuple
    image: tuple
    hidden: int
    channels: int
    stride: tuple
    padding: tuple
    dilation: tuple
    groups: int = 1
    channels_last: bool = False
    transposed: bool = False
    output_padding: tuple = ()

    @classmethod
    def of_row(cls, row):
        """("bfloat16", convolution) of such as "bfloat16 2x2 4x4 64 from 3 by 2x2 around 0x0 over 1x1 in 1"; patches of three channels end behind 64."""
        dtype, kernel, image, hidden, *more = row.split()
        kernel, image, none = _sizes(kernel), _sizes(image), (0,) * (kernel.count("x") + 1)
        said = dict(zip(more[:10:2], more[1:10:2]))
        flags = more[10:]
        return dtype, cls(
            kernel,
            image,
            int(hidden),
            int(said.get("from", 3)),
            _sizes(said["by"]) if said else kernel,
            _sizes(said["around"]) if said else none,
            _sizes(said["over"]) if said else tuple(1 for _ in kernel),
            int(said.get("in", 1)),
            "channels_last" in flags,
            "transposed" in flags,
            _sizes(flags[-1]) if "with" in flags else none,
        )


def _sizes(text):
    return tuple(map(int, text.split("x")))


def scratch_bytes(dtype, convolution, count):
    """(forward, weight's gradient, input's gradient): bytes asked for beside the results, of so many images.  On the current device."""
    import torch

    order = torch.channels_last if convolution.channels_last else torch.contiguous_format
    empty = lambda *sizes: torch.empty(*sizes, device="cuda", dtype=dtype, memory_format=order)
    channels, hidden, groups = convolution.channels, convolution.hidden, convolution.groups
    x = empty(count, channels, *convolution.image)
    weight = empty(*((channels, hidden // groups) if convolution.transposed else (hidden, channels // groups)), *convolution.kernel)
    settings = (list(convolution.stride), list(convolution.padding), list(convolution.dilation), convolution.transposed, list(convolution.output_padding or [0] * len(convolution.kernel)), groups)

    def scratch(call):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_stats()["requested_bytes.all.current"]
        result = call()
        return result, torch.cuda.memory_stats()["requested_bytes.all.peak"] - before - result.numel() * result.element_size()

    y, forward = scratch(lambda: torch.ops.aten.convolution(x, weight, None, *settings))
    gradient = torch.empty_like(y)
    of_weight, of_input = (scratch(lambda: torch.ops.aten.convolution_backward(gradient, x, weight, None, *settings, [which == 0, which == 1, False])[which])[1] for which in (1, 0))
    return forward, of_weight, of_input


def main():
    import torch

    version = torch.backends.cudnn.version()
    print(f"{version // 10000}.{version // 100 % 100}", flush=True)
    for line in sys.stdin:
        row, _, count = line.rstrip("\n").rpartition(" of ")
        try:
            dtype, convolution = Convolution.of_row(row)
            print(*scratch_bytes(getattr(torch, dtype), convolution, int(count)), flush=True)
        except RuntimeError as error:  # cuDNN has no kernel for it
            print(str(error).partition("\n")[0], flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # without the report of a run, which nobody reads
