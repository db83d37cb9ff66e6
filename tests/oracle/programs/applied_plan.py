"""Trains what a spec stands for (argument 1, JSON) with the checkpointing of a plan (argument 2, its file)."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "trace"))
import record_steps
import tidemark

spec = json.loads(sys.argv[1])
record_steps.loop(tidemark.apply(record_steps.build(spec), sys.argv[2]), record_steps.rows_of(spec), spec)
