#!/usr/bin/env python3
"""Captures a tiny model of every model type that transformers can train: programs, and a table of what was captured and why the rest was not.

usage: tidemark run --gpu h100-80gb --memory 1000TB -- python tools/capture/models.py FOLDER [MODEL_TYPE ...]
       python tools/capture/models.py FOLDER --table docs/captured-models.md

FOLDER gets MODEL_TYPE.txt, the program, and MODEL_TYPE.json, what was found; what is there already is not captured again.
"""

import collections
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
SECONDS = 90
IMAGES = 1


def asked(model_type, config):
    return {"source": str(config), "batch": 2, "seq": 96, "images": IMAGES, "image_size": None, "head": None, "attn": None, "experts": None, "use_cache": None, "padded": False}


def captured(model_type, folder, overrides):
    """What the table tells of a model type."""
    from limits import TooSlow, at_most
    from tidemark.capture import inside
    from tiny import tiny

    stage = "configuration"
    try:
        config = folder / "config.json"
        config.write_text(json.dumps(tiny(model_type, overrides)))
        stage = "capture"
        with at_most(SECONDS):
            text = inside.run(asked(model_type, config))
    except TooSlow as error:
        return {"failed": f"{stage}: {error}"}
    except Exception as error:
        return {"failed": f"{stage}: {type(error).__name__}: {' '.join(str(error).split())[:160]}"}
    (folder / f"{model_type}.txt").write_text(text)
    functions = collections.Counter(re.findall(r"^ .*?((?:torch|transformers)\.[\w.]+)\(", text, re.MULTILINE))
    header = dict(line.partition(" ")[::2] for line in text.splitlines()[:30] if not line.startswith("input "))
    return {key: header[key] for key in ("class", "points", "unsolved", "concrete", "elsewhere", "dtypes", "transformers", "torch") if key in header} | {
        "lines": text.count("\n"),
        "functions": dict(functions),
        "applied": sorted(set(re.findall(r"= apply (\w+)#", text))),
        "images": "input pixel_values" in text or "input input_features" in text,
    }


def model_types():
    from tidemark.capture.models import HEADS
    from transformers.models.auto import modeling_auto

    return list(dict.fromkeys(kind for head in HEADS for kind in getattr(modeling_auto, f"MODEL_FOR_{head}_MAPPING_NAMES")))


def capture(folder, wanted):
    overrides = json.loads((HERE / "overrides.json").read_text())
    for model_type in wanted or model_types():
        found = folder / f"{model_type}.json"
        if found.exists() and not wanted:
            continue
        found.write_text(json.dumps({"failed": "capture: the process ended"}))  # what is found if it does
        start = time.time()
        row = captured(model_type, folder, overrides.get(model_type, {}))
        found.write_text(json.dumps({**row, "seconds": round(time.time() - start, 1)}, indent=1))
        print(model_type, row.get("failed") or f"{row['lines']} lines", row.get("concrete", ""), flush=True)


def table(folder, page):
    rows = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json")) if path.stem != "config"}
    done = {kind: row for kind, row in rows.items() if "failed" not in row}
    solved = [kind for kind, row in done.items() if row["points"] != "1" and row["unsolved"] == "0"]
    versions = next(iter(done.values()))
    functions = {name for row in done.values() for name in row["functions"]}
    lines = [
        "# Model types that are captured",
        "",
        f"Made by `tools/capture/models.py` with transformers {versions['transformers']} and torch {versions['torch']}, of tiny configurations, at 2 samples of 96 tokens, of one image or sound where a model takes them.",
        "",
        f"{len(done)} of {len(rows)} model types are captured; in {len(solved)} of them every number is solved in the sizes of the batch. They call {len(functions)} torch functions.",
        "",
        "| model type | class | lines | torch functions | sizes |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for kind, row in done.items():
        sizes = f"concrete: {row['concrete']}" if "concrete" in row else f"solved, {row['unsolved']} left" if row["unsolved"] != "0" else "solved"
        sizes += f"; other sizes go another way: {row['elsewhere']}" if "elsewhere" in row else ""
        custom = f", and {', '.join(row['applied'])}" if row["applied"] else ""
        lines.append(f"| {kind} | {row['class']} | {row['lines']} | {len(row['functions'])}{custom} | {sizes.replace('|', '/')} |")
    lines += ["", "## Not captured", "", "| model type | why |", "| --- | --- |"]
    lines += [f"| {kind} | {row['failed'].replace('|', '/')} |" for kind, row in rows.items() if "failed" in row]
    pathlib.Path(page).write_text("\n".join(lines) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[2:3] == ["--table"]:
        table(folder, sys.argv[3])
    else:
        os.environ.update(PYTORCH_JIT="0", TORCHDYNAMO_DISABLE="1")
        capture(folder, sys.argv[2:])


if __name__ == "__main__":
    main()
