"""Writes validation/step_times/*/rows.jsonl from published tables of step times.

    python tools/efficiency/step_times.py --llm-foundry DIR --vtrain DIR

DIR are checkouts of mosaicml/llm-foundry and VIA-Research/vTrain.  Nothing that data/efficiency.json was made from is read
here, and nothing here was read for it."""

import argparse
import csv
import io
import json
import subprocess
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "validation/step_times"
MPT = {  # width, heads, layers: scripts/train/yamls/pretrain/mpt-*.yaml
    "125m": (768, 12, 12), "350m": (1024, 16, 24), "760m": (1536, 12, 24), "1b": (2048, 16, 24), "3b": (2560, 20, 32),
    "7b": (4096, 32, 32), "13b": (5120, 40, 40), "30b": (7168, 56, 48), "70b": (8192, 64, 80)}  # fmt: skip
LARGE_SCALE = "H100 80GB BF16 (Large Scale, >= 128 GPUs)"
SECTIONS = {  # title: card, the port of one GPU to other nodes
    LARGE_SCALE: ("h100-80gb", 0),
    "H100 80GB BF16": ("h100-80gb", 0),
    "A100 80GB with 1600 Gbps node-node interconnect (RoCE)": ("a100-80gb", 25e9),
    "A100 40GB with 1600 Gbps node-node interconnect (RoCE)": ("a100-40gb", 25e9),
}
TRITON_IN_LARGE_SCALE = {"13b", "30b"}


def runs_triton(section, model):
    """Which attention: submit_benchmarks.py has --attn_impl triton as its default where the tables were made, b2a43a147 (sweep.sh asks for
    no other) and 5e85bd62d, which added those of 128 GPUs and more: its sweep.py asks for triton or flash by model.  It is
    llmfoundry/models/layers/flash_attn_triton.py: the first FlashAttention."""
    return section != LARGE_SCALE or model in TRITON_IN_LARGE_SCALE


def show(root, path):
    return subprocess.check_output(["git", "-C", root, "show", f"HEAD:{path}"], text=True, encoding="utf-8-sig")


def revision(root):
    return subprocess.check_output(["git", "-C", root, "rev-parse", "--short=10", "HEAD"], text=True).strip()


def gpt(width, heads, layers, tokens, vocabulary):
    """Without dropout, as MPT is.  Megatron has it, in one kernel with bias and sum, and has one kernel for scaling, mask and softmax:
    a pass over the scores for softmax and one for dropout, where GPT-2 without dropout has three."""
    return {"model_type": "gpt2", "n_embd": width, "n_head": heads, "n_layer": layers, "n_positions": tokens,
            "vocab_size": vocabulary, "activation_function": "gelu",
            "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}  # fmt: skip


def write(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def foundry_rows(root):
    path = "scripts/train/benchmarking/README.md"
    section, seen = None, set()
    for line in show(root, path).splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if section not in SECTIONS or len(cells) != 20 or cells[0] not in MPT:
            continue
        model, tokens, gpus, _, mfu, _, _, micro, passes, samples, _, rate, _, _, _, mode = cells[:16]
        tokens, gpus, micro, passes, samples = map(int, (tokens, gpus, micro, passes, samples))
        gpu, network = SECTIONS[section]
        name = f"{gpu} {model} {tokens} x{gpus} {micro}x{passes}"
        if name in seen:
            continue  # the same setting once more
        seen.add(name)
        row = {"id": name, "source": f"mosaicml/llm-foundry@{revision(root)} {path}, {section}: {mfu} % MFU",
               "model": f"mpt-{model}", "gpu": gpu, "group": "one node" if gpus <= 8 else "several nodes"}  # fmt: skip
        if micro * passes * gpus != samples or cells[18] == "True":
            yield row | {"left_out": "micro-batches of different sizes, or activations on the host"}
            continue
        spec = {"model": gpt(*MPT[model], tokens, 50368), "batch": micro, "seq": tokens, "grad_accumulation": passes,
                "max_grad_norm": 1.0, "gpus": gpus, "gpus_per_node": min(gpus, 8), "parallel": "fsdp1",
                "checkpointing": "non_reentrant" if cells[17] == "True" else "none",
                "fsdp1": {"sharding_strategy": cells[16]}}  # fmt: skip
        if mode == "DEFAULT":  # mosaicml/composer v0.16.4 and v0.17.2, mosaic_fsdp_utils.py, get_mixed_precision; PURE is bf16 throughout
            spec["dtype"] = "fp32"
            spec["fsdp1"] |= {"param_dtype": "bf16", "reduce_dtype": "fp32"}
        if runs_triton(section, model):
            row["kernels"] = f"{gpu.partition('-')[0]}-flash-attention-1"
        row |= {"seconds": round(samples * tokens / int(rate), 5), "spec": spec}
        yield row | ({"network_bytes_per_s": network} if network else {})


def vtrain_spec(row):
    gpus, total, micro = int(row["# GPUs"]), int(row["global batch"]), int(row["micro batch"])
    tp, dp, pp = (int(row[f"{name} parallelism"]) for name in ("tensor", "data", "pipeline"))
    if tp * dp * pp != gpus or total % (dp * micro):
        return None
    tokens = int(row["sequence length"])
    sizes = int(row["hidden size"]), int(row["attention heads"]), int(row["# layers"])
    spec = {"model": gpt(*sizes, tokens, 51200), "attn": "eager", "dtype": "fp16", "seq": tokens,
            "gpus": gpus, "gpus_per_node": min(gpus, 8), "optimizer_impl": "fused", "max_grad_norm": 1.0,
            "checkpointing": "non_reentrant"}  # fmt: skip
    passes = total // (dp * micro)
    if pp > 1:
        spec |= {"batch": micro * passes, "pp": {"degree": pp, "microbatches": passes, "schedule": "1f1b" if passes >= pp else "gpipe"}}
    else:
        spec |= {"batch": micro, "grad_accumulation": passes}
    if tp > 1:
        spec["tp"] = {"degree": tp}
    if dp > 1:  # all gradients are reduced at the end: config/validation, use_gradient_bucket
        spec |= {"parallel": "ddp", "ddp": {"bucket_cap_mb": 1e6, "no_sync": True}}
    return spec


def vtrain_rows(root):
    for file, group in (("ground_truth_single.csv", "one node"), ("ground_truth_multi.csv", "several nodes")):
        for number, row in enumerate(csv.DictReader(io.StringIO(show(root, f"data/{file}"))), 2):
            sizes = f"{row['hidden size']}x{row['# layers']}"
            where = f"{row['# GPUs']} GPUs, batch {row['global batch']}, {row['sequence length']} tokens"
            one = {"id": f"{file[13:-4]} {number}", "source": f"VIA-Research/vTrain@{revision(root)} data/{file} line {number}",
                   "model": f"gpt {sizes}", "gpu": "a100-80gb", "group": group}  # fmt: skip
            spec = vtrain_spec(row)
            if not spec:
                yield one | {"left_out": "its degrees do not multiply to the number of GPUs"}
                continue
            one |= {"seconds": float(row["iteration time (ms)"]) / 1000, "kernels": "a100-megatron-deepspeed", "spec": spec}
            one["ranked_among"] = f"{sizes} {where}"
            if {"tp", "pp"} <= spec.keys():  # deepspeed/runtime/pipe/engine.py: is_pipe_partitioned = is_model_parallel
                one["parts_between_stages"] = True
            yield one | ({"network_bytes_per_s": 12.5e9} if group == "several nodes" else {})


def some_sets(rows):
    """Of one node every sixth set of rows that are ranked among each other, as they come; of several nodes all."""
    sets = list(dict.fromkeys(row.get("ranked_among") for row in rows if row["group"] == "one node"))
    kept = set(sets[::6])
    return [row for row in rows if row["group"] != "one node" or row.get("ranked_among") in kept]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm-foundry", type=Path, required=True)
    parser.add_argument("--vtrain", type=Path, required=True)
    parser.add_argument("--whole-vtrain", type=Path, help="a folder, for all rows of it")
    options = parser.parse_args()
    write(OUT / "llm-foundry", list(foundry_rows(options.llm_foundry)))
    rows = list(vtrain_rows(options.vtrain))
    write(OUT / "vtrain", some_sets(rows))
    if options.whole_vtrain:
        write(options.whole_vtrain, rows)


if __name__ == "__main__":
    main()
