"""What a hub would give, made here: configurations without weights, small tokenizers, small data.  The same bytes on every machine.

    python standins.py KIND FOLDER ARGUMENTS    (arguments as JSON)

Weights are not made: `tidemark run --fake-weights` loads them from the configuration.
"""

import json
import sys

import standin_data
import standin_models

KINDS = {kind.__name__: kind for kind in (*standin_models.KINDS, *standin_data.KINDS)}

if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2], **json.loads(sys.argv[3]))
