"""Record the parameters and buffers of published configurations, for tests/golden/published.

    python tools/trace/record_published.py OUT_DIR [NAME ...]

Models are built on the meta device in bfloat16, so that nothing is downloaded or computed.  OUT_DIR gets
RELEASE.txt.gz, of this Python's transformers; of `-` the release and what it holds are printed.  With NAMEs, only these
are recorded.  A line of JSON begins each configuration, then a line per group of tensors: kind, name, sizes, type, and
the numbers that stand for `#`.  A model that another release of tests/golden/published holds with the same tensors has
one line: {"name": NAME, "as": RELEASE, "crc32": N}, with the checksum of its lines there.
"""

import gzip
import itertools
import json
import pathlib
import re
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "data/programs"
STORED = ROOT / "tests/golden/published"


# --- configurations


def configurations():
    """{name: configuration} of all that the repository holds, each once."""
    found = {}
    for path in sorted((ROOT / "data/models").glob("*.json")):
        if path.name != "index.json":
            found[f"models/{path.stem}"] = json.loads(path.read_text())
    for row in gzip.open(ROOT / "tests/golden/hub_configs/hub.txt.gz", "rt"):
        found[f"hub/{json.loads(row)['name']}"] = json.loads(row)["config"]
    for path in sorted((ROOT / "validation").rglob("*.json*")):
        for number, config in enumerate(configs_in(path)):
            found[f"{path.relative_to(ROOT / 'validation').with_suffix('')}/{number}"] = config
    once = {json.dumps(config, sort_keys=True): name for name, config in reversed({**found, **defaults()}.items())}
    return {name: config for name, config in {**found, **defaults()}.items() if name in once.values()}


def configs_in(path):
    """Each object with a model_type in a file of JSON, or of JSON lines, once."""
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    texts = dict.fromkeys(json.dumps(config) for line in lines for config in models_in(json.loads(line)))
    return [json.loads(text) for text in texts]


def models_in(value):
    if isinstance(value, dict) and isinstance(value.get("model_type"), str):
        yield value
        return
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from models_in(inner)


def defaults():
    """A configuration that leaves all to its class, of each way in which a family is built."""
    published = json.loads((ROOT / "tools/capture/published.json").read_text())
    types = sorted({path.name.partition(".")[0] for path in PROGRAMS.glob("*/*")})
    ways = {kind: published.get(kind, {}) for kind in types}
    return {f"defaults/{kind}.{n}": {"model_type": kind, **keys} for kind, of in ways.items() for n, keys in enumerate(of if isinstance(of, list) else [of])}


def class_of(config):
    """The class that the family's programs train: that of the configuration, else the one that is trained unless another is asked for."""
    kind = config["model_type"]
    files = [path for path in sorted(PROGRAMS.glob(f"*/{kind}*"), key=lambda path: path.name) if path.name.partition(".")[0] == kind]
    files = [path for path in files if path.name.endswith(".contrastive")] + files  # what predict takes first
    classes = list(dict.fromkeys(re.search(r"^class (\w+)$", path.read_text(), re.M)[1] for path in files))
    return next((name for name in config.get("architectures") or [] if name in classes), classes[0] if classes else None)


# --- their tensors


def rows(config, class_name):
    """(kind, name, sizes, type) of each parameter, then of each buffer."""
    import torch
    import transformers

    read = transformers.AutoConfig.for_model(**{key: value for key, value in config.items() if key not in ("architectures", "quantization_config")})
    with torch.device("meta"):
        model = getattr(transformers, class_name)._from_config(read, dtype=torch.bfloat16)
    model.tie_weights()
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, tensor in tensors:
            yield kind, name, "x".join(map(str, tensor.shape)), str(tensor.dtype).removeprefix("torch.")


def folded(tensors):
    """Lines of tensors; those of names that differ in numbers alone are one."""
    groups = {}
    for kind, name, sizes, dtype in tensors:
        words = name.split(".")
        template = ".".join("#" if word.isdigit() else word for word in words)
        groups.setdefault((kind, template, sizes, dtype), []).append(tuple(int(word) for word in words if word.isdigit()))
    for key, numbers in groups.items():
        for ranges in products(numbers):
            yield "\t".join([*key, *ranges])


def products(numbers):
    """Lists of tuples as products of ranges, one for each place."""
    if not numbers[0]:
        return [[]]
    rests, firsts = {}, {}
    for first, *rest in numbers:
        rests.setdefault(first, []).append(tuple(rest))
    for first, rest in rests.items():
        firsts.setdefault(tuple(map(tuple, products(rest))), []).append(first)
    return [[ranges(of), *rest] for product, of in firsts.items() for rest in product]


def ranges(numbers):
    """0-3,6 of 0, 1, 2, 3 and 6."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def recorded(name, config):
    """The lines of a configuration; none of one whose class this transformers does not have, or whose family has no program of this major release."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind, class_name = config["model_type"], class_of(config)
    has_program = any(path.name.partition(".")[0] == kind for path in PROGRAMS.glob(f"{transformers.__version__.partition('.')[0]}.*/*"))
    if not has_program or kind not in CONFIG_MAPPING or not hasattr(transformers, class_name):
        return []
    head = {"name": name, "class": class_name, "config": config}
    try:
        tensors = list(folded(rows(json.loads(json.dumps(config)), class_name)))
    except Exception as error:  # whatever a model of such a configuration raises
        return [json.dumps({**head, "raises": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"})]
    return [json.dumps(head), *tensors]


# --- recordings of several releases


def lines_of_models(path):
    """{name: lines} of a recording as it lies there."""
    models = {}
    for line in gzip.open(path, "rt").read().splitlines():
        if line.startswith("{"):
            models[json.loads(line)["name"]] = lines = []
        lines.append(line)
    return models


def stored(release):
    """{name: lines} of a stored recording, all in full."""
    models, others = lines_of_models(STORED / f"{release}.txt.gz"), {}
    for name, [first, *_] in models.items():
        head = json.loads(first)
        if other := head.get("as"):
            others.setdefault(other, lines_of_models(STORED / f"{other}.txt.gz"))
            models[name] = others[other][name]
            assert checksum(models[name]) == head["crc32"], f"{release}: record {name} again, {other} has changed"
    return models


def checksum(lines):
    return zlib.crc32("\n".join(lines).encode())


def packed(models, release):
    """The lines of models, a reference for each that another stored release holds."""
    others = {path.name.removesuffix(".txt.gz"): lines_of_models(path) for path in sorted(STORED.glob("*.txt.gz"))}
    others.pop(release, None)
    for lines in filter(None, models):
        name = json.loads(lines[0])["name"]
        equal = [other for other, known in others.items() if known.get(name) == lines]
        yield from [json.dumps({"name": name, "as": equal[-1], "crc32": checksum(lines)})] if equal else lines


def main():
    folder, *names = sys.argv[1:]
    import transformers

    transformers.logging.set_verbosity_error()
    found = configurations()
    models = (recorded(name, found[name]) for name in names or found)
    if folder == "-":
        print(transformers.__version__)
        for line in itertools.chain.from_iterable(models):
            print(line)
        return
    with gzip.GzipFile(pathlib.Path(folder) / f"{transformers.__version__}.txt.gz", "wb", mtime=0) as file:
        for line in packed(models, transformers.__version__):
            file.write(f"{line}\n".encode())


if __name__ == "__main__":
    main()
