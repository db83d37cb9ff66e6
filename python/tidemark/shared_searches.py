"""What `tidemark plan --ray` starts: python -m tidemark.shared_searches SEARCHES.json SHARES.json

SEARCHES.json is a list of questions; SHARES.json becomes what all parts of each have found, or the error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import errors, sharing


def main(asked, told):
    try:
        answer = {"shares": [sharing.over_ray(question)["share"] for question in json.loads(Path(asked).read_text())]}
    except errors.Error as error:
        answer = {"error": {"code": error.code, "message": error.message, "where": error.where, "hint": error.hint}}
    Path(told).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
