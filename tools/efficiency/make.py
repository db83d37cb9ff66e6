"""Writes data/efficiency.json from published measurements of kernels and collectives.

    python tools/efficiency/make.py --aiconfigurator DIR --neusight DIR

DIR are checkouts of ai-dynamo/aiconfigurator and sitar-lab/NeuSight (needs pyarrow).  Kernels alone are read: no time of a
training, so that step times can be scored on trainings.  What has no table there is in KNOWN, with its source."""

import argparse
import csv
import json
import re
import subprocess
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768]
WIDTHS = [64, 256, 1024, 4096, 16384, 65536]
BYTES = [2**16, 2**20, 2**22, 2**24, 2**26, 2**28, 2**30]
BUS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "alltoall": 1}  # nccl-tests, doc/PERFORMANCE.md

# The first card of each row is the one that was measured; the others have the same chip, link and clocks.
PRODUCTS = {
    "a100-80gb": ("a100_sxm/gemm/sglang/0.5.10", ["a100-80gb", "a100-40gb", "a100-80gb-pcie", "a100-40gb-pcie"]),
    "h100-80gb": ("h100_sxm/gemm/vllm/0.24.0", ["h100-80gb", "gh200-96gb"]),
    "h200": ("h200_sxm/gemm/vllm/0.24.0", ["h200"]),
    "l40s": ("l40s/gemm/vllm/0.24.0", ["l40s"]),
    "b200": ("b200_sxm/gemm/vllm/0.24.0", ["b200"]),
}
COLLECTIVES = {
    "a100-80gb": "a100_sxm/comm/nccl/2.27.3",
    "h100-80gb": "h100_sxm/comm/nccl/2.27.3",
    "h200": "h200_sxm/comm/nccl/2.29.2",
    "b200": "b200_sxm/comm/nccl/2.29.2",
}
ATTENTION = {  # FlashAttention-2, as torch's scaled_dot_product_attention has it; forward pass, causal, 128 wide
    "a100-80gb": "a100_sxm/attention/vllm/0.14.0",
    "l40s": "l40s/attention/vllm/0.14.0",
}
FLASH_3 = ("arXiv 2407.08608, figures 5 and 6 (H100 80GB SXM5, FlashAttention-2 as they measured it); causal, of which they have the "
           "forward pass of heads of 128 alone: the rest by its ratio to what is not causal")  # fmt: skip
H100_ATTENTION = [  # TFLOP/s forward and backward, not causal
    (64, [512, 1024, 2048, 4096, 8192, 16384], [282, 306, 318, 321, 322, 324], [198, 238, 264, 279, 287, 291]),
    (128, [512, 1024, 2048, 4096, 8192, 16384], [309, 350, 362, 368, 370, 370], [214, 260, 291, 310, 318, 322]),
]
H100_CAUSAL = [causal / whole for causal, whole in zip([191, 260, 298, 319, 333, 335], H100_ATTENTION[1][2], strict=True)]
H100_PEAK = 989.4e12
FLASH_1 = ("Dao-AILab/flash-attention@0251105a2f assets/flash2_{}_fwd_bwd_benchmark.png: FlashAttention (the first), causal, "
           "forward and backward together; its flash_attn_triton.py says of itself that it is slightly slower than that")  # fmt: skip
FLASH_1_TOKENS = [512, 1024, 2048, 4096, 8192, 16384]
FLASH_1_SPEEDS = {  # TFLOP/s, by the width of heads
    "a100": {64: [58, 70, 77, 87, 92, 97], 128: [55, 62, 69, 76, 80, 83]},
    "h100": {64: [104, 123, 136, 138, 149, 156], 128: [98, 109, 108, 126, 135, 137]},
}
# What large products keep up for minutes, at the power that the card may draw.  A table of kernels is measured in a few milliseconds,
# on a card that is cold (aiconfigurator, collector/vllm/collect_gemm.py: three to warm up, six that count), at clocks that no training has.
SUSTAINED = {"h100-80gb": 730e12, "h200": 730e12}
SUSTAINED_SOURCE = ("at most {:.3g} %: 730 TFLOP/s, which products of 8,192 to a side keep up on an H100 SXM5 (huggingface/gpu-fryer@704ba85cf1 "
                    "README.md; on an A100 270 of 312, which nothing in its table exceeds)")  # fmt: skip
ROOFLINE = "pytorch/ao@81a28138f torchao/testing/float8/roofline_utils.py"  # of Meta's H100: 500 W, memory of 2.4 TB/s
# Large products in bf16; large pointwise kernels.  Since March 2025 the file has 78 % of products, which is more than they keep up at 700 W.
H100_500W = {"products": 60.0, "memory_per_s": 0.92 * 2.4e12}
# Seconds, by tools/efficiency/host.py.
MEGATRON = {"operation": 47.6e-6, "collective": 53.1e-6}
MEGATRON_SOURCE = ("VIA-Research/vTrain@f8dda8473a data/ground_truth_single.csv, of the rows that validation/step_times has not "
                   "(tools/efficiency/host.py): {}")  # fmt: skip
A100_BACKWARD = 63 / 73  # arXiv 2307.08691, 4.1: up to 73 % of the peak forward, and 63 % backward


def table(root, folder, name):
    import pyarrow.parquet

    path = root / "aic-core/src/aiconfigurator_core/systems/data" / folder / f"{name}_perf.parquet"
    return pyarrow.parquet.read_table(path).to_pylist()


def revision(root):
    return subprocess.check_output(["git", "-C", root, "rev-parse", "--short=10", "HEAD"], text=True).strip()


def percent(value):
    return float(f"{100 * value:.3g}")


def near(all_at, wanted):
    """What was measured within half a step of the grid on either side."""
    ordered = sorted(all_at)
    found = [at for at in ordered if wanted / 1.5 <= at <= wanted * 1.5]
    return found or [min(ordered, key=lambda at: abs(at - wanted))]


def products(rows, peak):
    times = {(r["m"], r["n"], r["k"]): r["latency"] * 1e-3 for r in rows if r["gemm_dtype"] == "bfloat16"}
    at = [sorted({key[axis] for key in times}) for axis in range(3)]
    result = []
    for m in ROWS:
        planes = []
        for n in WIDTHS:
            line = []
            for k in WIDTHS:
                reached = [2 * a * b * c / times[a, b, c] / peak for a in near(at[0], m) for b in near(at[1], n) for c in near(at[2], k) if (a, b, c) in times]
                line.append(percent(median(reached)) if reached else None)
            planes.append(line)
        result.append(planes)
    return fill(result)


def fill(grid):
    """The largest shapes of all were not measured: as the next smaller."""
    for plane in grid:
        for i, line in enumerate(plane):
            for j, value in enumerate(line):
                if value is None:
                    line[j] = line[j - 1] if j and line[j - 1] is not None else plane[i - 1][j]
    return grid


def at_most(grid, percent_):
    return [[[min(value, percent_) for value in line] for line in plane] for plane in grid]


def attention(rows, peak):
    """Of the largest batch that was measured at each length, which is what fills the card."""
    best = {}
    for r in rows:
        is_plain = r["kernel_source"] == "vllm_flash_attn" and r["attn_dtype"] == r["kv_cache_dtype"] == "bfloat16"
        if not is_plain or r["num_heads"] != r["num_key_value_heads"] or r["step"] or r["num_heads"] not in (16, 32, 40):
            continue
        reached = 2 * r["batch_size"] * r["num_heads"] * r["head_dim"] * r["isl"] ** 2 / (r["latency"] * 1e-3) / peak
        best.setdefault(r["isl"], []).append(reached)
    tokens = [at for at in (128, 256, 512, 1024, 2048, 4096, 8192, 16384) if at in best]
    return tokens, [percent(max(best[at])) for at in tokens]


def collectives(rows):
    """Per operation and number of ranks: seconds of a message, which is what all ranks have of it together."""
    result = []
    for operation in BUS:
        for ranks in (2, 4, 8):
            times = {}
            for r in rows:
                if r["op_name"] == operation and r["num_gpus"] == ranks and r["nccl_dtype"] == "half":
                    times.setdefault(2 * r["message_size"], []).append(r["latency"] * 1e3)
            at = [b for b in BYTES if b in times]
            if at:
                row = {"operation": operation, "ranks": ranks, "bytes": at}
                result.append(row | {"microseconds": [round(median(times[b]), 1) for b in at]})
    return result


def memory(root):
    """Part of the peak bandwidth that elementwise kernels of 64 MiB and more reach, by card."""
    peak = {"NVIDIA A100-PCIE-40GB": 1555.2e9, "NVIDIA A100 80GB PCIe": 1935.36e9, "NVIDIA L4": 300.048e9,
            "Tesla V100-PCIE-32GB": 898.048e9, "Tesla T4": 320.064e9}  # fmt: skip
    reached = {}
    for r in csv.DictReader(open(root / "scripts/asplos/data/dataset/test/elem.csv", encoding="utf-8-sig")):
        moved = 4 * float(r["B"]) * float(r["H"])
        if r["Device"] not in peak or moved < 2**26 or r["OPName"] not in ("add", "mul", "gelu", "relu"):
            continue
        moved *= 3 if r["OPName"] in ("add", "mul") else 2
        reached.setdefault(r["Device"], []).append(moved / (float(r["Latency"]) * 1e-3) / peak[r["Device"]])
    return {device: percent(median(all_)) for device, all_ in reached.items()}


def single_products(root):
    """Of the peak of float32 outside tensor cores, by large products."""
    peak = {"NVIDIA A100-PCIE-40GB": 19.49184e12, "NVIDIA L4": 30.28992e12}
    reached = {}
    for r in csv.DictReader(open(root / "scripts/asplos/data/dataset/test/linear.csv", encoding="utf-8-sig")):
        flops = 2 * float(r["B"]) * float(r["M"]) * float(r["N"]) * float(r["K"])
        if r["Device"] in peak and flops > 1e11:
            reached.setdefault(r["Device"], []).append(flops / (float(r["Latency"]) * 1e-3) / peak[r["Device"]])
    return {device: percent(median(all_)) for device, all_ in reached.items()}


def attention_rows(key, roots, peak, source):
    if key in ("h100-80gb", "h200"):
        return [
            {
                "head_width": width,
                "tokens": tokens,
                "forward_percent": [percent(f * c * 1e12 / H100_PEAK) for f, c in zip(forward, H100_CAUSAL, strict=True)],
                "backward_percent": [percent(b * c * 1e12 / H100_PEAK) for b, c in zip(backward, H100_CAUSAL, strict=True)],
                "source": FLASH_3,
            }  # fmt: skip
            for width, tokens, forward, backward in H100_ATTENTION
        ]
    if key not in ATTENTION:
        return []
    tokens, forward = attention(table(roots["aiconfigurator"], ATTENTION[key], "context_attention"), peak)
    backward = [percent(value * A100_BACKWARD / 100) for value in forward]
    return [{"head_width": 128, "tokens": tokens, "forward_percent": forward, "backward_percent": backward,
             "source": f"forward: {source} {ATTENTION[key]}; backward: 63/73 of it (arXiv 2307.08691, 4.1)"}]  # fmt: skip


def card_rows(roots, cards):
    source = f"ai-dynamo/aiconfigurator@{revision(roots['aiconfigurator'])}"
    moved, single = memory(roots["neusight"]), single_products(roots["neusight"])
    neusight = f"sitar-lab/NeuSight@{revision(roots['neusight'])} scripts/asplos/data/dataset/test"
    measured = {
        "a100-80gb": (moved["NVIDIA A100 80GB PCIe"], f"{neusight}/elem.csv, A100 80GB PCIe"),
        "l40s": (moved["NVIDIA L4"], f"{neusight}/elem.csv, L4, of the same generation"),
    }
    for key, (folder, keys) in PRODUCTS.items():
        peak = cards[key]["bf16_flops"]
        row = {"cards": keys, "products": {"percent": products(table(roots["aiconfigurator"], folder, "gemm"), peak),
                                           "source": f"{source} {folder}"}}  # fmt: skip
        if key in SUSTAINED:
            most = percent(SUSTAINED[key] / peak)
            row["products"] = {"percent": at_most(row["products"]["percent"], most),
                               "source": f"{source} {folder}, {SUSTAINED_SOURCE.format(most)}"}  # fmt: skip
        row["attention"] = attention_rows(key, roots, peak, source)
        if key in ("h100-80gb", "h200", "b200"):
            system = f"aic-core/src/aiconfigurator_core/systems/{key.removesuffix('-80gb')}_sxm.yaml"
            factor = float(re.search(r"mem_bw_empirical_scaling_factor: ([.0-9]+)", (roots["aiconfigurator"] / system).read_text())[1])
            row["memory"] = {"percent": percent(factor), "source": f"{source} {system}, mem_bw_empirical_scaling_factor"}
        if key in measured:
            row["memory"] = dict(zip(("percent", "source"), measured[key], strict=True))
        if key in ("h100-80gb", "h200"):
            row["beside_collectives"] = {"percent": 59.0, "source": "NVIDIA developer forum, topic 337991: a product beside an all_gather "
                                         "reaches 47 % of the peak of an H100, and 80 % alone"}  # fmt: skip
        if key == "a100-80gb":
            row["single_products"] = {"percent": single["NVIDIA A100-PCIE-40GB"],
                                      "source": f"{neusight}/linear.csv, A100-PCIE-40GB"}  # fmt: skip
        if key in COLLECTIVES:
            rows = collectives(table(roots["aiconfigurator"], COLLECTIVES[key], "nccl"))
            row["collectives"] = {"rows": rows, "source": f"{source} {COLLECTIVES[key]}"}
        yield row


def variants(rows, cards):
    """What of a card's row is otherwise where other kernels ran than it has today, or where it is built otherwise."""
    grid = next(row for row in rows if "h100-80gb" in row["cards"])["products"]["percent"]
    for name in FLASH_1_SPEEDS:
        yield {"cards": [f"{name}-flash-attention-1"], "variant_of": f"{name}-80gb", "attention": [
            {"head_width": width, "tokens": FLASH_1_TOKENS, "forward_percent": reached, "backward_percent": reached,
             "source": FLASH_1.format(name)}
            for width, speeds in FLASH_1_SPEEDS[name].items()
            for reached in [[percent(speed * 1e12 / cards[f"{name}-80gb"]["bf16_flops"]) for speed in speeds]]
        ]}  # fmt: skip
    most = H100_500W["products"]
    yield {"cards": ["h100-500w"], "variant_of": "h100-80gb",
           "products": {"percent": at_most(grid, most), "source": f"as H100 at 700 W, but at most {most:.0f} %: {ROOFLINE}"},
           "memory": {"percent": percent(H100_500W["memory_per_s"] / cards["h100-80gb"]["memory_bandwidth_bytes_per_s"]),
                      "source": f"0.92 of 2.4 TB/s: {ROOFLINE}"}}  # fmt: skip
    yield {"cards": ["a100-megatron-deepspeed"], "variant_of": "a100-80gb",
           "operation": {"seconds": MEGATRON["operation"],
                         "source": MEGATRON_SOURCE.format("what a layer more takes of a pass where no kernel fills the card, for each of its operations")},
           "collective": {"seconds": MEGATRON["collective"],
                          "source": MEGATRON_SOURCE.format("what it takes more among 2 and 4 ranks, for each of its reductions")}}  # fmt: skip


def general(rows, roots):
    """For a card without a row, and for what a row does not have: the middle of those that do."""
    source = f"sitar-lab/NeuSight@{revision(roots['neusight'])} scripts/asplos/data/dataset/test"
    grids = [row["products"]["percent"] for row in rows]
    middle = [[[percent(median(g[i][j][k] for g in grids) / 100) for k in range(len(WIDTHS))] for j in range(len(WIDTHS))]
              for i in range(len(ROWS))]  # fmt: skip
    moved, single = memory(roots["neusight"]), single_products(roots["neusight"])
    a100 = next(row for row in rows if "a100-80gb" in row["cards"])
    return {
        "products": {"percent": middle, "source": "the middle of the cards that have rows"},
        "attention": [a100["attention"][0] | {"source": "as A100, for which FlashAttention-2 was written"}],
        "memory": {"percent": median(moved.values()),
                   "source": f"the middle of A100, L4, V100 and T4: {source}/elem.csv"},
        "single_products": {"percent": percent(median(single.values()) / 100), "source": f"{source}/linear.csv"},
        "within_node": {"percent": 75.0, "seconds": 20e-6,
                        "source": "A100 and H100 over NVLink at 1 GiB, and at 64 KiB, as in their rows"},
        "between_nodes": {"percent": 94.0, "seconds": 14e-6,
                          "source": "46 to 48 GB/s of an NDR port of 50: NVIDIA/nccl-tests issue 290; a hop of a ring: "
                                    "NVIDIA/nccl src/graph/tuning.cc, hwLat, NET, Ring, Simple"},
        "host_link": {"percent": 80.0, "source": "26 of 31.5 GB/s and 50 of 63: what pinned copies reach; weak"},
        "beside_collectives": {"percent": 77.8,
                               "source": "84 of A100's 108 multiprocessors: NCCL takes as many as it has channels, 24 (NVIDIA developer "
                                         "forum, topic 337991)"},
        "operation": {"seconds": 26e-6,
                      "source": "forward passes that wait for the host: of BERT base, 0.006 s with 8 x 8 tokens as with 8 x 32, of 288 operations "
                                "(huggingface/transformers v4.8.0 docs/source/benchmarks.rst; TITAN RTX, torch 1.4.0), and of ResNet-50, "
                                "0.0059 s of 175 (dataset optimum-benchmark/cuda@44cc52959b cuda_inference_timm_image-classification_timm; "
                                "A10G): 21 and 33 us, of which the geometric middle; weak"},
        "collective": {"seconds": 85e-6,
                       "source": "all_reduce of 1.25 MB called from Python among 8 H100: 110.6 us at least (issue 1 of "
                                 "IBM/pytorch-communication-benchmarks), of which 26 are the collective's own; weak"},
    }  # fmt: skip


def lines(value, indent=0):
    """One line for each list of numbers."""
    pad = " " * indent
    if isinstance(value, dict):
        body = ",\n".join(f"{pad} {json.dumps(k)}: {lines(v, indent + 1).lstrip()}" for k, v in value.items())
        return f"{pad}{{\n{body}\n{pad}}}"
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        body = ",\n".join(lines(v, indent + 1) for v in value)
        return f"{pad}[\n{body}\n{pad}]"
    return pad + json.dumps(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aiconfigurator", type=Path, required=True)
    parser.add_argument("--neusight", type=Path, required=True)
    roots = vars(parser.parse_args())
    cards = {card["key"]: card for card in json.loads((REPOSITORY / "data/gpus.json").read_text())["cards"]}
    rows = list(card_rows(roots, cards))
    whole = {"schema": "tidemark.efficiency/1",
             "source": "tools/efficiency/make.py: kernels and collectives that others measured; no training",
             "axes": {"m": ROWS, "n": WIDTHS, "k": WIDTHS}, "general": general(rows, roots),
             "rows": [*rows, *variants(rows, cards)]}  # fmt: skip
    (REPOSITORY / "data/efficiency.json").write_text(lines(whole) + "\n")


if __name__ == "__main__":
    main()
