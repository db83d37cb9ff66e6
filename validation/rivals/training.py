"""What a rival is asked: one training of the corpus, and how it says that it has no answer."""

import dataclasses
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "xmem"
sys.path.insert(0, str(CORPUS))  # for train.py

CNNS = ("ConvNeXtTiny", "MobileNetV2", "ResNet101")
LENGTHS = [128] * 4  # tokens to the longest line of each batch: what train.py takes when it is not told
NEWER, OLDER = "4.52.4", "4.51.3"  # releases of transformers


class Refused(Exception):
    """The rival has no figure for this training; the text says why."""


@dataclasses.dataclass(frozen=True)
class Training:
    id: str
    model: str
    optimizer: str
    batch: int
    zero_grad: int
    transformers: str  # the release; nothing of it is used for CNNs

    @property
    def is_cnn(self):
        return self.model in CNNS


def rows():
    return [json.loads(line) for line in (CORPUS / "rows.jsonl").read_text().splitlines()]


def training_of(row):
    """By the arguments that Tidemark's own prediction gives train.py, and with the same release of transformers."""
    model, optimizer, batch, option, zero_grad = row["run"]["arguments"]
    if option != "--zero-grad":
        raise ValueError(f"{row['id']}: {option} is not known here")
    release = OLDER if row["run"]["environment"].endswith("transformers-4.51") else NEWER
    return Training(row["id"], model, optimizer, int(batch), int(zero_grad), release)


def trainings():
    return [training_of(row) for row in rows()]
