"""Record configurations as they are found in the world, for tests/golden/hub_configs.

    python tools/trace/record_hub_configs.py hub FOLDER OUT.txt.gz        # config.json files, with a README that names their sources
    python tools/trace/record_hub_configs.py spellings OUT.txt.gz          # small ones, as this release of transformers writes them

A line of JSON each: the configuration, and of the first kind how many parameters transformers makes of it, on the meta
device.  Only families whose programs data/programs has of this transformers.
"""

import gzip
import json
import pathlib
import re
import sys

import torch
import transformers
from record_parameters import CASES

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "data" / "programs" / transformers.__version__


def heads_of(model_type):
    """[(what it is trained for, the class)] of a family's programs, the one that nobody has to ask for in front."""
    files = sorted(path for path in (PROGRAMS / model_type, *PROGRAMS.glob(f"{model_type}.*")) if path.exists())
    return [(re.search(r"^head (\w+)$", text, re.M)[1], re.search(r"^class (\w+)$", text, re.M)[1]) for text in (path.read_text() for path in files)]


def head_of(config):
    """The class that wrote the file, or the first."""
    heads = heads_of(config["model_type"])
    return next((head for head in heads if head[1] in (config.get("architectures") or [])), heads[0])


def parameters(config, class_name):
    read = transformers.AutoConfig.for_model(**config)
    with torch.device("meta"):
        model = getattr(transformers, class_name)._from_config(read)
    model.tie_weights()
    return sum(parameter.numel() for parameter in model.parameters())


def hub_rows(folder):
    readme = (folder / "README.md").read_text()
    for path in sorted(folder.glob("*.json")):
        config = json.loads(path.read_text())
        if not heads_of(config["model_type"]):
            continue
        source = re.search(rf"^- `{re.escape(path.name)}`: [^,]*, (.*)$", readme, re.M)[1]
        head, class_name = head_of(config)
        print(path.name, flush=True)
        yield {"name": path.stem, "source": source, "head": head, "parameters": parameters(json.loads(path.read_text()), class_name), "config": config}


def spelling_rows():
    """Release 4 ties LLaVA's and Qwen2-VL's embeddings when nothing is said, and release 5 does not: what it leaves out means another model."""
    older = transformers.__version__.startswith("4.")
    for model_type, cases in sorted(CASES.items()):
        if older and model_type in ("llava", "qwen2_vl"):
            continue
        head, options = cases[0]
        config = transformers.AutoConfig.for_model(model_type, **json.loads(json.dumps(options)))
        for how, text in (("whole", config.to_json_string(use_diff=False)), ("short", config.to_json_string())):
            yield {"name": f"{model_type}_{transformers.__version__}_{how}", "head": head, "config": json.loads(text), "plain": {"model_type": model_type, **options}}


def main():
    kind, *folder, out = sys.argv[1:]
    rows = hub_rows(pathlib.Path(folder[0])) if kind == "hub" else spelling_rows()
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        for row in rows:
            file.write((json.dumps(row) + "\n").encode())


if __name__ == "__main__":
    main()
