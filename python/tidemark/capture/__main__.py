"""`python -m tidemark.capture`: asks for a program, of the interpreter that runs it."""

import argparse
import json
import math
import sys
from pathlib import Path

from .asking import ask
from .mistakes import Mistake


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tidemark.capture", description="Captures the forward pass of a model as a program.", allow_abbrev=False)
    parser.add_argument("source", help="config.json, the folder that holds it, a name on the hub whose configuration is in the local cache, or model.py:function, which returns a module and its batch")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the program goes (default: stdout)")
    parser.add_argument("--batch", type=_positive, default=2, metavar="N", help="samples (default: 2)")
    parser.add_argument("--seq", type=_positive, metavar="N", help="tokens of a sample, those of images included; samples of raw audio (default: 64 tokens)")
    parser.add_argument("--target-seq", type=_positive, metavar="N", help="tokens of a label, of an encoder-decoder model (default: as many as --seq, always)")
    parser.add_argument("--audio-seconds", type=_seconds, metavar="X", help="seconds of raw audio in a sample (default: 10)")
    parser.add_argument("--images", type=_whole, default=0, metavar="N", help="images of a sample (default: 0)")
    parser.add_argument("--image-size", type=_pixels, metavar="HxW", help="pixels, of models that take images of any size: 448 or 336x448, height first")
    parser.add_argument("--head", help="what the model is trained for, such as causal_lm (default: what the configuration says)")
    parser.add_argument("--attn", choices=["sdpa", "eager"], help="implementation of attention (default: what transformers chooses)")
    parser.add_argument("--experts", choices=["grouped_mm", "batched_mm", "eager"], help="implementation of experts (default: what transformers chooses)")
    parser.add_argument("--use-cache", choices=["true", "false"], help="whether a key/value cache is filled (default: what the configuration says)")
    parser.add_argument("--autocast", choices=["own", "other"], help="what a model does under it that does something of its own there: in the dtype of its weights, or in another")
    parser.add_argument("--padded", action="store_true", help="the batch holds padding")
    parser.add_argument("--fresh", action="store_true", help="capture again what was captured before")
    return parser.parse_args()


def _whole(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


def _seconds(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no duration")
    return value


def _pixels(text):
    sides = [_positive(side) for side in text.split("x")]
    if len(sides) > 2:
        raise argparse.ArgumentTypeError(f"{text} is not a height and a width")
    return sides * 2 if len(sides) == 1 else sides


def main():
    given = _arguments()
    request = {
        "source": given.source,
        "batch": given.batch,
        "seq": given.seq,
        "target_seq": given.target_seq,
        "audio_seconds": given.audio_seconds,
        "images": given.images,
        "image_size": given.image_size,
        "head": given.head,
        "attn": given.attn,
        "experts": given.experts,
        "use_cache": json.loads(given.use_cache) if given.use_cache else None,
        "padded": given.padded,
        "autocast": given.autocast,
    }
    try:
        text = ask(request, fresh=given.fresh)
    except Mistake as mistake:
        print(f"tidemark: {mistake}", file=sys.stderr)
        return mistake.exit_code
    if given.output:
        Path(given.output).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
