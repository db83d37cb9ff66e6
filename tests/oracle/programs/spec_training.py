"""Trains what a spec of `tidemark predict` stands for (argument 1, JSON), as tools/trace/record_steps.py does."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "trace"))
import record_steps

record_steps.train(json.loads(sys.argv[1]))
