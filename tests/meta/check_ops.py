#!/usr/bin/env python3
"""Every operation that a header of src/ops declares is listed by `tidemark ops` and has a golden of ordered allocations: python check_ops.py ROOT"""

import pathlib
import re
import sys

# Parts of other operations, recorded with them: casts, a view after a write in place, and the indices of repeat_interleave.
PARTS = {"autocast_low", "autocast_f32", "rebased", "repeated_places"}
# The last three are no operations of torch: bitsandbytes' and TRL's are recorded in steps (tests/golden/steps/{qlora,int8,sft}*), with the state that their modules hold.
HEADERS_OF_PARTS = {"attention.h", "convolution_scratch.h", "cub.h", "index.h", "matmul_4bit.h", "matmul_8bit.h", "chunked_logprob.h"}
# Further recordings of an operation, under a name of their own: of copy_, of scaled_dot_product_attention, of convolution, of scale_.
VARIANTS = {"copy_into", "attention_bias", "attention_one_query", "attention_turned", "convolution_of_images", "depthwise", "scale_part"}


def check(root):
    headers = [path.read_text() for path in (root / "src/ops").glob("*.h") if path.name not in HEADERS_OF_PARTS]
    declared = set(re.findall(r"^(?:Tensor|Tensors|void|std::array<Tensor, \d>) (\w+)\(", "\n".join(headers), re.M)) - PARTS
    listed = set(re.findall(r'^    {"(\w+)",', (root / "src/ops/index.cpp").read_text(), re.M))
    recorded = {path.stem for path in (root / "tests/golden/ops").glob("*.json")}
    problems = [f"src/ops/index.cpp does not list {name}" for name in sorted(declared - listed)]
    problems += [f"no header of src/ops declares {name}" for name in sorted(listed - declared - VARIANTS)]
    problems += [f"tests/golden/ops/{name}.json is missing: tools/trace/record_ops.py --only {name}" for name in sorted(listed - recorded)]
    problems += [f"tests/golden/ops/{name}.json is of no operation" for name in sorted(recorded - listed)]
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "ops: every operation is listed and recorded")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
