#!/usr/bin/env python3
"""Adds a configuration to data/models, from which names on the hub are answered without a network.

    tools/bundled_models.py CONFIG.json ORG/NAME ... --source TEXT [--date YYYY-MM-DD]

The names are those of all models that have this configuration.  `--source` names where its keys were found: a repository, a
commit and a path, or a package, its version and a file.  A name that another file has moves to this one.
"""

import argparse
import datetime
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data/models"
# Keys that no memory depends on; transformers_version would only say who wrote the file.
LEFT_OUT = {"_name_or_path", "transformers_version", "auto_map", "task_specific_params", "bos_token_id", "eos_token_id", "cache_implementation"}


def kept(config):
    """The configuration without keys that no memory depends on, at each level."""
    if isinstance(config, dict):
        return {key: kept(value) for key, value in config.items() if key not in LEFT_OUT}
    return config


def lines_of(config):
    """JSON with a key a line at the first level."""
    rows = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(config.items()))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def file_of(name, taken):
    """The model's own name, with its owner where that is another model's."""
    own = name.rpartition("/")[2].lower()
    return f"{own}.json" if f"{own}.json" not in taken else f"{name.replace('/', '--').lower()}.json"


def add(config, names, source, date, folder=FOLDER):
    """Writes the configuration and its row of index.json; returns the name of its file."""
    for name in names:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            raise SystemExit(f"{name} is no ORG/NAME")
    if not isinstance(config, dict) or not config.get("model_type"):
        raise SystemExit("the configuration has no model_type")
    index = folder / "index.json"
    rows = json.loads(index.read_text())["configurations"] if index.exists() else {}
    for file, row in list(rows.items()):
        row["names"] = [name for name in row["names"] if name not in names]
        if not row["names"]:
            del rows[file]
            (folder / file).unlink()
    file = file_of(names[0], rows)
    rows[file] = {"names": names, "source": source, "date": date}
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(lines_of(kept(config)))
    listed = (f"    {json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows))
    index.write_text('{\n  "configurations": {\n' + ",\n".join(listed) + "\n  }\n}\n")
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", metavar="CONFIG.json", type=pathlib.Path)
    parser.add_argument("names", metavar="ORG/NAME", nargs="+")
    parser.add_argument("--source", required=True)
    parser.add_argument("--date", default=datetime.date.today().isoformat(), type=lambda text: datetime.date.fromisoformat(text).isoformat())
    options = parser.parse_args()
    print(add(json.loads(options.config.read_text()), options.names, options.source, options.date))


if __name__ == "__main__":
    main()
