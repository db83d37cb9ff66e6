#!/usr/bin/env python3
"""Writes docs/answered-configs.md: the answer of the plain command for each config.json of a folder, without a torch.

usage: tools/answered_configs.py FOLDER [--tidemark build/release/apps/cli/tidemark] [--table docs/answered-configs.md]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPTIONS = ["--batch", "1", "--seq", "1024", "--lora-r", "8", "--checkpointing", "non_reentrant", "--gpu", "h100-80gb"]
ANSWERED = (0, 1)  # exit codes: it fits, or it does not
HEAD = """# Configurations that are answered without PyTorch

Made by `tools/answered_configs.py`: `tidemark predict CONFIG {options}`
for each `config.json` of a folder of published ones, with a Python that has no torch.
A model that takes images is trained on text. {answered} of {all} are answered.

| config.json | model type | peak on the device, or the reason |
| --- | --- | --- |
"""


def ask(tidemark, config, folder):
    """(exit code, the report, the error) of the plain command; no interpreter with torch is in PATH."""
    report = pathlib.Path(folder) / "report.json"
    command = [tidemark, "predict", config, *OPTIONS, "--quiet", "--json", report]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, json.loads(report.read_text()) if done.returncode in ANSWERED else None, done.stderr


def row_of(tidemark, config, folder):
    """(whether it is answered, the row of the table)"""
    code, report, error = ask(tidemark, config, folder)
    model_type = json.loads(config.read_text()).get("model_type", "")
    if code in ANSWERED:
        result = f"{report['peak']['device_bytes']:,}" if code == 0 else "does not fit"
    else:
        result = re.sub(r"\S*/python3 has", "this Python has", " ".join(error.removeprefix("tidemark: ").split())).replace("|", "/")
    return code in ANSWERED, f"| {config.name} | {model_type} | {result} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tidemark", type=pathlib.Path, default=ROOT / "build/release/apps/cli/tidemark")
    parser.add_argument("--table", type=pathlib.Path, default=ROOT / "docs/answered-configs.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row_of(os.path.abspath(asked.tidemark), config, folder) for config in sorted(asked.folder.glob("*.json"))]
    answered = sum(is_answered for is_answered, _ in rows)
    asked.table.write_text(HEAD.format(options=" ".join(OPTIONS), answered=answered, all=len(rows)) + "\n".join(row for _, row in rows) + "\n")
    print(f"{answered} of {len(rows)} answered")


if __name__ == "__main__":
    main()
