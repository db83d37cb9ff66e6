"""Of the programs in a folder, the amounts that are 0.0 where a configuration does not say them, that something reads and that no program holds for: a line each.  usage: zero_amounts.py FOLDER"""

import pathlib
import re
import sys

from tidemark.capture.keys import leaves_of
from transformers import AutoConfig

for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    header = file.read_text().partition("\nmodules ")[0]
    reads = re.search(r"^reads (.*)$", header, re.M).group(1).split()
    held = "\n".join(line for line in header.splitlines() if line.startswith("holds "))
    for path, value in leaves_of(AutoConfig.for_model(file.name).to_dict()):
        name = path.rpartition(".")[2]
        if isinstance(value, float) and value == 0.0 and name in reads and name not in held:
            print(file.name, path)
