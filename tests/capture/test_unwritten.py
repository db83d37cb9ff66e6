"""Keys that a configuration class takes and does not write as it takes them."""

import dataclasses

from tidemark.capture.unwritten import keys_of, paths_of


class Text:
    """As transformers' Gemma4TextConfig: layers by number have what two keys say."""

    def __init__(self, **kwargs):
        self.__post_init__(**kwargs)

    def __post_init__(self, **kwargs):
        self.width = kwargs.pop("global_head_dim", 512)
        kwargs.pop("global_heads", None)
        if "per_layer_config" not in kwargs:
            self.per_layer_config = {5: {"head_dim": self.width}}

    def to_dict(self):
        return {"head_dim": 256, "per_layer_config": self.per_layer_config}


class Whole:
    sub_configs = {"text_config": Text, "vision_config": Text}

    def __init__(self, text_config=None):
        self.text_config, self.vision_config = Text(**(text_config or {})), None

    def to_dict(self):
        return {"text_config": self.text_config.to_dict(), "vision_config": None}


def test_they_are_in_place_of_the_layers_own_keys():
    assert keys_of(Whole(), {}) == {"text_config": {"head_dim": 256, "global_head_dim": 512, "global_heads": None}, "vision_config": None}
    given = {"text_config": {"global_head_dim": 64}}
    assert keys_of(Whole(**given), given)["text_config"]["global_head_dim"] == 64


def test_what_is_in_their_place_is_named():
    assert dict(paths_of(Whole())) == {"text_config.global_head_dim": "text_config.per_layer_config", "text_config.global_heads": "text_config.per_layer_config"}


def test_a_class_that_writes_all_is_as_it_is():
    class Plain:
        def to_dict(self):
            return {"head_dim": 16, "per_layer_config": {0: {}}}

    assert keys_of(Plain(), {}) == Plain().to_dict() and dict(paths_of(Plain())) == {}


@dataclasses.dataclass
class Repeated:
    """As transformers' Gemma3nTextConfig: a number, or a list of one for each layer."""

    num_hidden_layers: int = 3
    width: "int | list[int]" = 8

    def to_dict(self):
        return {"num_hidden_layers": self.num_hidden_layers, "width": self.width if isinstance(self.width, list) else [self.width] * self.num_hidden_layers}


def test_one_number_for_all_layers_is_that_number():
    assert keys_of(Repeated(width=16), {})["width"] == 16
    assert keys_of(Repeated(width=[8, 8, 16]), {})["width"] == [8, 8, 16], "layers of several widths are told one by one"
