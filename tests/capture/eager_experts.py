"""Run by test_cases.py under `tidemark run`: the ways in which experts of a class without sdpa can be run."""

import json
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/capture"), str(ROOT / "python")]
from tidemark.capture.family import Family
from tiny import tiny

keys = tiny("gpt_oss", json.loads((ROOT / "tools/capture/overrides.json").read_text()).get("gpt_oss", {}))
print("ways", *Family._ways_of_experts(types.SimpleNamespace(base=keys, kind="gpt_oss", head=None, device="cpu", _whole=lambda keys: keys)))
