"""Run by test_batches.py under `tidemark run`: the lengths at which models that are a signature are captured."""

import types

from tidemark.capture.batches import Shape
from tidemark.capture.mistakes import Mistake
from tidemark.capture.points import points_from

WAVES = {"conv_kernel": [10, 3, 3, 3, 3, 2, 2], "conv_stride": [5, 2, 2, 2, 2, 2, 2]}


class Model:
    def __init__(self, **keys):
        self.config = types.SimpleNamespace(**keys)
        self.config.get_text_config = lambda: self.config

    def forward(self, input_ids=None, labels=None):
        pass


def show(name, shape, model):
    try:
        print(name, *(f"{point.seq}:{point.target}" for point in points_from(shape, model)))
    except Mistake as mistake:
        print(name, mistake)


show("apart", Shape(2, 96, target=61), Model(is_encoder_decoder=True))
show("longest", Shape(2, 96, target=1024), Model(is_encoder_decoder=True, max_position_embeddings=1024))
show("same", Shape(2, 96), Model(is_encoder_decoder=True))
show("decoder", Shape(2, 96, target=61), Model())
show("audio", Shape(2, 0), Model(**WAVES))
show("seconds", Shape(2, 0, audio_seconds=2.5), Model(**WAVES))
show("text", Shape(2, 0, audio_seconds=2.5), Model())
