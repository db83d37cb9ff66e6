#!/usr/bin/env python3
"""Record the scratch memory of cuDNN's convolutions, for data/convolutions.

    for card in h200 h100-pcie a100-80gb …; do
      tidemark run --gpu $card --steps 1000000 -- python record_convolutions.py record OUT/$card.jsonl
    done
    python record_convolutions.py write OUT/h200.jsonl > data/convolutions/cudnn-9.26/sm_90.txt

Behind OUT may stand image sides: only patches of these are recorded, whose rows go where they stand among SQUARES.
With `others` in the place of `record`, those that are not patches of three channels, and the tiny ones of tools/capture/prove.py: their rows go behind the file's.
`model OUT/$card.jsonl config.json MOST` records those that a model of transformers calls, of up to MOST images: Gemma 3n's, whose tower is timm's mobilenetv5_300m_enc, SAM 2's of four widths, and CLAP's.

There is no formula (python/tidemark/convolutions.py): for each kernel shape that the
families use, this asks the real cuDNN (on a virtual card) for every number of images and keeps the scratch bytes as
pieces that are linear in that number.  A piece is written as first:slope:constant.
"""

import json
import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tidemark.convolutions import Convolution, scratch_bytes

IMAGES = 512  # of two-dimensional patches; every number up to DENSE, then bisection
PATCHES = 65536  # of Qwen2-VL's three-dimensional ones, always a multiple of four
DENSE = 128
# (patch, image side in pixels, hidden sizes); the tiny ones are those of the tests
SQUARES = [
    (14, 56, (128,)),
    (14, 224, (384, 768, 1024, 1152, 1280, 1408, 1664)),
    (14, 336, (768, 1024, 1152)),
    (14, 364, (1152,)),
    (14, 384, (1152,)),
    (14, 448, (1024, 1152, 1280)),
    (14, 518, (384, 768, 1024)),
    (14, 560, (1280,)),
    (14, 896, (1152,)),
    (14, 1540, (1024,)),
    (16, 32, (128,)),
    (16, 64, (128,)),
    (16, 224, (192, 384, 768, 1024, 1152, 1280)),
    (16, 256, (768, 1024, 1152)),
    (16, 384, (768, 1024, 1152)),
    (16, 512, (768, 1024, 1152)),
    (32, 64, (128,)),
    (32, 224, (768, 1024)),
    (32, 384, (768, 1024)),
]
CUBES = [(14, (128, 1024, 1280, 1536)), (16, (1024, 1152))]


class Other(NamedTuple):
    """A convolution that is not of patches of three channels; `most`: samples, of which there are always a multiple of `step`."""

    channels: int
    hidden: int
    kernel: tuple
    image: tuple
    stride: tuple
    padding: tuple
    most: int
    groups: int = 1
    channels_last: bool = False
    step: int = 1
    transposed: bool = False


def resnet_50():
    """Of transformers' default ResNetConfig: bottlenecks whose 3x3 has the stride, at 224 pixels."""
    yield Other(3, 64, (7, 7), (224, 224), (2, 2), (3, 3), 256)
    before, side = 64, 56
    for stage, width in enumerate((256, 512, 1024, 2048)):
        inner, stride = width // 4, 2 if stage else 1
        yield Other(before, inner, (1, 1), (side, side), (1, 1), (0, 0), 256)
        yield Other(inner, inner, (3, 3), (side, side), (stride, stride), (1, 1), 256)
        yield Other(before, width, (1, 1), (side, side), (stride, stride), (0, 0), 256)
        side //= stride
        yield Other(inner, width, (1, 1), (side, side), (1, 1), (0, 0), 256)
        yield Other(width, inner, (1, 1), (side, side), (1, 1), (0, 0), 256)
        if stage:
            yield Other(inner, inner, (3, 3), (side, side), (1, 1), (1, 1), 256)
        before = width


def davit(side, *widths):
    """Of Florence 2's tower, which makes patches smaller between its stages, and mixes neighbours within them channel by channel."""
    yield Other(3, widths[0], (7, 7), (side, side), (4, 4), (3, 3), 64)
    side //= 4
    for before, width in zip((0, *widths), widths):
        if before:
            yield Other(before, width, (3, 3), (side, side), (2, 2), (1, 1), 64, channels_last=True)
            side //= 2
        yield Other(width, width, (3, 3), (side, side), (1, 1), (1, 1), 64, groups=width, channels_last=True)


def waves(samples, *hidden):
    """Of transformers' default Wav2Vec2Config: seven convolutions over sounds of so many samples, and one over their frames, of models so wide."""
    before = 1
    for kernel, stride in zip((10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)):
        yield Other(before, 512, (kernel,), (samples,), (stride,), (0,), 32)
        before, samples = 512, (samples - kernel) // stride + 1
    for width in hidden:
        yield Other(width, width, (128,), (samples,), (1,), (64,), 32, groups=16)


OTHERS = [
    # the tiny models of tools/capture/prove.py
    *(Other(3, 64, (8, 8), (side, side), (8, 8), (0, 0), 32) for side in (16, 32)),
    Other(3, 64, (2, 8, 8), (2, 8, 8), (2, 8, 8), (0, 0, 0), 512),
    *(Other(64, 64, (2, 2), (2, 2), (2, 2), (0, 0), 128, channels_last=last) for last in (False, True)),
    *(Other(channels, 64, (3,), (tokens,), (stride,), (1,), 8) for tokens in (128, 64) for channels, stride in ((16, 1), (64, 2))),
    Other(1536, 4096, (2, 2), (2, 2), (2, 2), (0, 0), 16384, channels_last=True),  # GLM-4.1V's patches, merged four by four
    Other(3, 1152, (14, 14), (14, 14), (14, 14), (0, 0), 4096, step=4),  # PaddleOCR-VL's patches, one by one
    Other(3, 1152, (16, 16), (16, 16), (16, 16), (0, 0), 4096, step=4),
    Other(3, 64, (8, 8), (8, 8), (8, 8), (0, 0), 512, step=4),  # Hunyuan-VL's likewise, and those of its tiny model
    Other(1024, 1536, (2, 2), (2, 2), (2, 2), (0, 0), 16384, channels_last=True),  # GLM-OCR's, merged four by four
    # GOT-OCR 2: its patches, its neck, and what makes tokens of them
    Other(3, 768, (16, 16), (1024, 1024), (16, 16), (0, 0), 64),
    Other(768, 256, (1, 1), (64, 64), (1, 1), (0, 0), 64),
    Other(256, 256, (3, 3), (64, 64), (1, 1), (1, 1), 64, channels_last=True),
    Other(256, 512, (3, 3), (64, 64), (2, 2), (1, 1), 64, channels_last=True),
    Other(512, 1024, (3, 3), (32, 32), (2, 2), (1, 1), 64, channels_last=True),
    Other(512, 896, (3, 3), (32, 32), (2, 2), (1, 1), 64, channels_last=True),  # DeepSeek-OCR 2's last, whose others are those
    # Qwen3-ASR: seconds of spectrograms; Granite Speech: its conformer of half a minute
    *(Other(channels, 480, (3, 3), image, (2, 2), (1, 1), 240) for channels, image in ((1, (128, 100)), (480, (64, 50)), (480, (32, 25)))),
    Other(1024, 4096, (1,), (1500,), (1,), (0,), 32),
    Other(2048, 2048, (15,), (1514,), (1,), (0,), 32, groups=2048),
    Other(2048, 1024, (1,), (1500,), (1,), (0,), 32),
    # Whisper and those that listen by it: spectrograms of 30 seconds
    *(Other(bins, hidden, (3,), (3000,), (1,), (1,), 64) for bins, hidden in ((80, 384), (80, 512), (80, 768), (80, 1024), (80, 1280), (128, 1280))),
    *(Other(hidden, hidden, (3,), (3000,), (2,), (1,), 64) for hidden in (384, 512, 768, 1024, 1280)),
    *dict.fromkeys(resnet_50()),
    # Florence 2, base and large: its images, and those of tools/capture's checks
    *(other for side in (224, 768) for widths in ((128, 256, 512, 1024), (256, 512, 1024, 2048)) for other in davit(side, *widths)),
    # wav2vec 2.0 and its kin: the sounds of tools/capture's checks, and of 5, 10, 15, 20 and 30 seconds
    *waves(92239, 768, 1024),
    *waves(153679, 768, 1024),
    *(other for seconds in (5, 10, 15, 20, 30) for other in waves(16000 * seconds, 768, 1024)),
]


def of_model(config, most):
    """The convolutions that a model calls which transformers builds of a config.json, each once, of so many images of its own size."""
    import torch
    from tidemark.capture import models
    from tidemark.capture.batches import Shape
    from torch._prims_common import suggest_memory_format

    source = models.find({"source": config, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False})
    model, found = source.make(torch.bfloat16, "cuda"), {}
    both = lambda n: (n, n) if isinstance(n, int) else tuple(n)

    def noting(call, transposed):
        def noted(x, weight, bias=None, stride=1, padding=0, *more, **named):
            groups = named.get("groups", more[1] if len(more) > 1 else 1)
            last = any(suggest_memory_format(one) == torch.channels_last for one in (x, weight))
            hidden = weight.shape[1 if transposed else 0]
            found[Other(x.shape[1], hidden, tuple(weight.shape[2:]), tuple(x.shape[2:]), both(stride), both(padding), int(most), groups, last, transposed=transposed)] = True
            return call(x, weight, bias, stride, padding, *more, **named)

        return noted

    functions = torch.nn.functional
    functions.conv2d, functions.conv_transpose2d = noting(functions.conv2d, False), noting(functions.conv_transpose2d, True)
    model(**source.batch(model, Shape(2, 2048, 1), "cuda"))
    return list(found)


def shapes():
    for patch, side, hidden in SQUARES:
        for h in hidden:
            yield (patch, patch), (side, side), h
    for patch, hidden in CUBES:
        for h in hidden:
            yield (2, patch, patch), (2, patch, patch), h


def pieces(ask, points):
    """Linear pieces through ask(n); between two points that do not lie on one line it bisects."""
    known = {n: ask(n) for n in points}
    step = points[1] - points[0]
    while True:  # refine where three neighbours do not agree
        order, more = sorted(known), set()
        for a, b, c in zip(order, order[1:], order[2:]):
            if (known[b] - known[a]) * (c - b) != (known[c] - known[b]) * (b - a):
                for low, high in ((a, b), (b, c)):
                    if high - low > step:
                        more.add((low + high) // 2 // step * step)
        more -= set(known)
        if not more:
            break
        known.update({n: ask(n) for n in more})
    order, found, i = sorted(known), [], 0
    while i < len(order):
        last, slope = i, 0
        if i + 1 < len(order):
            slope, rest = divmod(known[order[i + 1]] - known[order[i]], order[i + 1] - order[i])
            while rest == 0 and last + 1 < len(order) and known[order[last + 1]] - known[order[i]] == slope * (order[last + 1] - order[i]):
                last += 1
            if last == i + 1 and last + 1 < len(order):  # two points are always on a line: not a piece of its own
                last = i
            if last == i:
                slope = 0
        found.append([order[i], slope, known[order[i]] - slope * order[i]])
        i = last + 1
    return found


def record(path, *sides):
    import torch

    with open(path, "w") as out:
        for kernel, image, hidden in shapes():
            if sides and str(image[-1]) not in sides:
                continue
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                if len(kernel) == 3 and dtype == torch.float32:
                    continue  # depends on more than lines can tell
                memory, patches = {}, Convolution(kernel, image, hidden, 3, kernel, (0,) * len(kernel), (1,) * len(kernel))

                def ask(count, direction):
                    if count not in memory:
                        memory[count] = scratch_bytes(dtype, patches, count)
                    return memory[count][direction]

                points = list(range(4, 2048, 4)) + list(range(2048, PATCHES + 1, 1024)) if len(kernel) == 3 else list(range(1, DENSE)) + list(range(DENSE, IMAGES + 1, 32))
                row = {"dtype": str(dtype)[6:], "kernel": kernel, "image": image, "hidden": hidden, "forward": pieces(lambda n: ask(n, 0), points), "backward": pieces(lambda n: ask(n, 1), points)}
                out.write(json.dumps(row) + "\n")
                out.flush()


def convolution_of(other):
    return Convolution(other.kernel, other.image, other.hidden, other.channels, other.stride, other.padding, (1,) * len(other.kernel), other.groups, other.channels_last, other.transposed)


def record_others(path, others=OTHERS):
    import torch

    with open(path, "w") as out:
        for other in others:
            points = sorted({*range(other.step, min(other.most, 64) + 1, other.step), *range(64, min(other.most, 256) + 1, 8), *range(256, other.most + 1, 128)})
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                memory = {}

                def ask(count, direction):
                    if count not in memory:
                        memory[count] = scratch_bytes(dtype, convolution_of(other), count)
                    return memory[count][direction]

                parts = [pieces(lambda n: ask(n, direction), points) for direction in range(3)]
                out.write(json.dumps({"dtype": str(dtype)[6:], "other": other, "parts": parts}) + "\n")
                out.flush()


def runs_without(dtype, other):
    """Whether torch runs a kernel of its own: src/ops/convolution_scratch.h, is_depthwise."""
    return len(other.kernel) == 2 and other.groups == other.channels > 1 and dtype != "float16" and not other.channels_last


def written(row):
    """The row of one that `others` recorded."""
    other = Other(*row["other"])
    by = lambda sizes: "x".join(map(str, sizes))
    is_patches = other.channels == 3 and other.stride == other.kernel and other.groups == 1 and not any(other.padding) and not other.channels_last and not other.transposed
    more = "" if is_patches else f" from {other.channels} by {by(other.stride)} around {by(other.padding)} over {by([1] * len(other.kernel))} in {other.groups}" + " channels_last" * other.channels_last + " transposed" * other.transposed
    return " | ".join([f"{row['dtype']} {by(other.kernel)} {by(other.image)} {other.hidden}{more}", *map(text, row["parts"][: 2 if is_patches else 3]), f"most {other.most}"])


def text(parts):
    return " ".join(":".join(str(number) for number in part) for part in parts)


def write(path):
    """The rows as src/ops/convolution_scratch.h reads them."""
    for row in map(json.loads, open(path)):
        if "other" in row:
            if not runs_without(row["dtype"], Other(*row["other"])):
                print(written(row))
            continue
        print(row["dtype"], "x".join(map(str, row["kernel"])), "x".join(map(str, row["image"])), row["hidden"], "|", text(row["forward"]), "|", text(row["backward"]))


if __name__ == "__main__":
    {"record": record, "others": record_others, "model": lambda path, config, most: record_others(path, of_model(config, most)), "write": write}[sys.argv[1]](*sys.argv[2:])
