"""The trainings of cases.jsonl as specs of `tidemark predict`: the same model, data and loop, said in its words."""

import json
from pathlib import Path

CASES = Path(__file__).resolve().with_name("cases.jsonl")
# Families of cases.jsonl that `tidemark predict` does not know yet (`tidemark models` lists those that it does).
NOT_YET = {"t5", "whisper", "mixtral"}
DTYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
IMAGE_TOKEN_FILL = 3  # runs of equal ids: text, image, text


def cases():
    rows = [json.loads(line) for line in CASES.read_text().splitlines() if line.strip()]
    return [row for row in rows if row["model_type"] not in NOT_YET]


def spec_of(case):
    train, batch = case["train"], case["batch"]
    first = next(iter(batch.values()))["shape"]
    spec = {"model": {"model_type": case["model_type"], **case["config"]}, "batch": first[0], "steps": case.get("steps", 3), "dtype": DTYPES[train.get("dtype", "bfloat16")], "attn": train.get("attn", "sdpa")}
    if "input_ids" in batch:
        spec["seq"] = batch["input_ids"]["shape"][1]
    if "pixel_values" in batch:
        spec["images"] = 1
        spec["image_size"] = "x".join(map(str, batch["pixel_values"]["shape"][-2:]))
    if len(batch.get("input_ids", {}).get("fill", [])) == IMAGE_TOKEN_FILL:
        spec["image_tokens"] = batch["input_ids"]["fill"][1][1]
    return {**spec, **_training(train)}


def _training(train):
    arguments = train.get("optimizer_args", {})
    spec = {"optimizer": train.get("optimizer", "adamw"), "grad_accumulation": train.get("grad_accum", 1), "freeze": train.get("freeze", []), "train_only": train.get("train_only", [])}
    if "momentum" in arguments:
        spec["momentum"] = arguments["momentum"]
    if "fused" in arguments or "foreach" in arguments:
        spec["optimizer_impl"] = "fused" if arguments.get("fused") else "loop"
    if "autocast" in train:
        spec["autocast"] = DTYPES[train["autocast"]]
    if "max_grad_norm" in train:
        spec["max_grad_norm"] = train["max_grad_norm"]
    if train.get("checkpointing"):
        spec["checkpointing"] = "non_reentrant"
    if "lora" in train:
        lora = train["lora"]
        spec["lora"] = {"r": lora["r"], "alpha": lora["lora_alpha"], "dropout": lora["lora_dropout"], "target_modules": lora["target_modules"]}
    return spec
