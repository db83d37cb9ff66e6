"""One case of cases.jsonl, as measure.py trains it, in a process of its own: python training.py ID"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import measure

case = next(case for case in map(json.loads, (HERE / "cases.jsonl").read_text().splitlines()) if case["id"] == sys.argv[1])
measure.run(case, None)
