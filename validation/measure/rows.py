"""A campaign's results.jsonl as a corpus of `tidemark validate`.

    python rows.py RESULTS.jsonl FOLDER --gpu h200 [--name NAME] [--driver VERSION]

Each training of the campaign becomes three rows, of allocated, reserved and device (what the driver counts for the whole card, so only of a card that nothing else used);
a case that failed is left out with its error.  The setting is that of cases.jsonl and measure.py: both engines are asked the same.  FOLDER gets rows.jsonl, and corpus.json if
there is none; `run` is given training.py from here.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import specs

MODALITIES = {"llava": "multimodal", "vit": "image", "clip": "multimodal", "siglip": "multimodal", "qwen2_vl": "multimodal", "whisper": "audio"}
SETTING = {"setting": "cases.jsonl and measure.py of the campaign: three steps, load by Module.to, zero_grad after the step"}


def method(case):
    train = case["train"]
    return "lora" if train.get("lora") else "frozen parts" if train.get("train_only") or train.get("freeze") else "full"


def engines(case, folder):
    """How each engine is asked, or why it cannot be."""
    asked = {"run": {"script": os.path.relpath(HERE / "training.py", folder), "arguments": [case["id"]], "environment": "campaign"}}
    if case["model_type"] in specs.NOT_YET:
        return {**asked, "predict_reason": f"predict does not know {case['model_type']}"}
    return {**asked, "predict": specs.spec_of(case)}


def rows_of(result, case, arguments):
    where = f"{arguments.results.name}: {result['id']}"
    common = {"source": where, "model": case["id"].split("/")[0], "family": case["model_type"], "modality": MODALITIES.get(case["model_type"], "text"), "method": method(case), "gpu": arguments.gpu, "setting": SETTING}
    if "error" in result:
        return [{**common, "id": result["id"], "left_out": f"the run failed: {result['error']}"}]
    versions = {name: result[name] for name in ("torch", "transformers") if name in result}
    if arguments.driver:
        versions["driver"] = arguments.driver
    measured = {"allocated": result["peak_allocated"], "reserved": result["peak_reserved"], "device": result["device"]["used"]}
    return [{**common, "id": f"{result['id']} {metric}", "metric": metric, "measured_bytes": value, "out_of_memory": False, "versions": versions, **engines(case, arguments.folder)} for metric, value in measured.items()]


def corpus_of(arguments):
    environment = {"python": "TIDEMARK_PYTHON", "requirements": "what the rows' versions name: torch, transformers, peft"}
    return {
        "schema": "tidemark.corpus/1",
        "name": arguments.name or arguments.folder.name,
        "title": f"Trainings measured on {arguments.gpu} by validation/measure",
        "source": "our own campaign",
        "bars": [],
        "environments": {"campaign": environment},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gpu", required=True, help="the card, as `tidemark gpus` names it")
    parser.add_argument("--name", default="")
    parser.add_argument("--driver", default="")
    arguments = parser.parse_args()

    cases = {case["id"]: case for case in map(json.loads, (HERE / "cases.jsonl").read_text().splitlines())}
    results = [result for result in map(json.loads, arguments.results.read_text().splitlines()) if result["id"] != "context"]
    unknown = [result["id"] for result in results if result["id"] not in cases]
    if unknown:
        raise SystemExit(f"not in cases.jsonl: {', '.join(unknown)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = [row for result in results for row in rows_of(result, cases[result["id"]], arguments)]
    (arguments.folder / "rows.jsonl").write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    if not (arguments.folder / "corpus.json").exists():
        (arguments.folder / "corpus.json").write_text(json.dumps(corpus_of(arguments), indent=2) + "\n")


if __name__ == "__main__":
    main()
