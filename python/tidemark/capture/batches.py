"""A batch for any model, from what its forward takes and what its configuration says.

A batch has `batch` samples of `seq` tokens (those of images and sounds included), of `images` images, or sounds, each.  Where a model takes images of any size, `grid`
is the number of patches down and across.
"""

import dataclasses
import inspect

import torch

from .mistakes import Mistake
from .recorder import is_tensor
from .terms import leaves


@dataclasses.dataclass(frozen=True)
class Shape:
    batch: int
    seq: int
    images: int = 0
    grid: tuple = (8, 12)
    image_size: tuple = None   # pixels down and across, where it decides `grid`
    target: int = 0   # tokens of a label, of models that write another text than they read (0: as many as they read)

    @property
    def pictures(self):
        return self.batch * self.images


class Batch(dict):
    """Keyword arguments of a forward pass, and the sizes in them by name."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes


def first_of(config, *names):
    """The first of the names that the configuration, or one of its parts, has as a number."""
    parts = [config] + [getattr(config, part, None) for part in getattr(config, "sub_configs", {})]
    for name in names:
        for part in parts:
            value = getattr(part, name, None)
            value = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


class _Maker:
    def __init__(self, model, shape, device):
        self.model, self.config, self.shape, self.device = model, model.config, shape, device
        parameters = inspect.signature(model.forward).parameters
        self.takes, self.takes_any = set(parameters), any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        self.batch = Batch({"B": shape.batch})

    def whole(self, *sizes):
        return torch.zeros(*sizes, dtype=torch.long, device=self.device)

    def real(self, *sizes):
        return torch.ones(*sizes, dtype=self.model.dtype, device=self.device)   # zeros would be padding

    def ids(self, length):
        """Tokens that mean nothing else than text, as far as anybody knows."""
        vocabulary = first_of(self.config.get_text_config(), "vocab_size", "vocab_size_text") or 256
        low = min(5, vocabulary // 2)
        count = self.shape.batch * length
        return (torch.arange(count, device=self.device) % max(1, min(90, vocabulary - low)) + low).view(self.shape.batch, length)

    def text(self):
        ids = self.ids(self.shape.seq)
        self.batch.update(input_ids=ids, attention_mask=torch.ones_like(ids))
        self.batch.sizes["S"] = self.shape.seq

    def image_size(self):
        return first_of(self.config, "image_size", "img_size", "crop_size") or 224

    def pictures(self):
        """Pixel values of images, by what else the forward takes."""
        n, side, channels = self.shape.pictures, self.image_size(), first_of(self.config, "num_channels", "in_channels", "in_chans") or 3
        self.batch.sizes["images"] = n
        grid = next((name for name in ("image_grid_thw", "image_grid_hw", "grid_thws") if name in self.takes), None)
        if grid:
            self.patches(grid, n, channels)
        elif "pixel_attention_mask" in self.takes:
            self.batch["pixel_values"] = self.real(self.shape.batch, self.shape.images, channels, side, side)
        elif "image_sizes" in self.takes and getattr(self.config, "image_grid_pinpoints", None):
            pinpoints = self.config.image_grid_pinpoints[0]
            tiles = 1 + (pinpoints[0] // side) * (pinpoints[1] // side)
            self.batch["pixel_values"] = self.real(n, tiles, channels, side, side)
            self.batch["image_sizes"] = torch.tensor([list(pinpoints)] * n, device=self.device)
        else:
            self.batch["pixel_values"] = self.real(n, channels, side, side)
            if "image_sizes" in self.takes and getattr(getattr(self.config, "vision_config", None), "model_type", "") == "pixtral":
                self.batch["image_sizes"] = torch.tensor([[side, side]] * n, device=self.device)

    def patches(self, grid, n, channels):
        """Patches in a row, of images of any size: transformers' Qwen2VLImageProcessor and its kin."""
        vision = getattr(self.config, "vision_config", self.config)
        down, across = self.shape.grid
        patch = first_of(vision, "patch_size")
        values = channels * (first_of(vision, "temporal_patch_size") or 1) * patch * patch
        self.batch["pixel_values"] = self.real(n * down * across, values)
        self.batch[grid] = torch.tensor([[1, down, across]] * n, device=self.device)
        self.batch.sizes.update(grid_h=down, grid_w=across)

    def placeholders(self, token, rows, each):
        """Puts `rows` of the token for each of `each` images into every sample."""
        ids = self.batch["input_ids"]
        if each * (rows + 1) + 1 > ids.shape[1]:
            raise Mistake(f"{ids.shape[1]} tokens have no room for {each} x {rows} of images: {each * (rows + 1) + 1} would do")
        ids[ids == token] = 4 if token != 4 else 3
        for i in range(each):
            start = 1 + i * (rows + 1)
            ids[:, start:start + rows] = token
        for name in ("token_type_ids", "mm_token_type_ids"):
            if name in self.takes:
                self.batch[name] = (ids == token).long()

    def rows_of(self, function, *names):
        """How many tokens the model makes of one image, by asking it."""
        given = {k: self.batch[k] for k in names if k in self.batch}
        wanted = inspect.signature(function).parameters
        given |= {k: getattr(self.config, k) for k, parameter in wanted.items() if parameter.default is parameter.empty and k not in given and hasattr(self.config, k)}
        features = function(**{k: v for k, v in given.items() if k in wanted or "kwargs" in wanted})
        features = getattr(features, "pooler_output", features)
        return sum(t.numel() // t.shape[-1] for _, t in leaves(features, is_tensor)) // self.shape.pictures

    def sounds(self):
        """Spectrograms for a language model that listens."""
        audio = getattr(self.config, "audio_config", None) or getattr(self.config, "encoder_config", self.config)
        frames = 2 * (first_of(audio, "max_source_positions") or 1500)
        self.batch.sizes["images"] = self.shape.pictures
        self.batch["input_features"] = self.real(self.shape.pictures, first_of(audio, "num_mel_bins") or 80, frames)
        for name in ("feature_attention_mask", "input_features_mask"):
            if name in self.takes:
                self.batch[name] = torch.ones(self.shape.pictures, frames, dtype=torch.long, device=self.device)


def batch_of(model, head, shape, device, padded=False):
    """The batch of a model that transformers knows by `head`."""
    maker = _Maker(model, shape, device)
    if head == "IMAGE_CLASSIFICATION":
        maker.batch["pixel_values"] = maker.real(shape.batch, first_of(maker.config, "num_channels", "in_channels") or 3, maker.image_size(), maker.image_size())
        maker.batch["labels"] = maker.whole(shape.batch)
    elif head in ("CTC", "AUDIO_CLASSIFICATION"):
        _speech(maker, head)
    elif head == "SPEECH_SEQ_2_SEQ" and "input_features" in maker.takes:
        frames = 2 * (first_of(maker.config, "max_source_positions") or 1500)
        maker.batch.update(input_features=maker.real(shape.batch, first_of(maker.config, "num_mel_bins") or 80, frames), labels=maker.ids(shape.seq))
        maker.batch.sizes["S"] = shape.seq
    else:
        _language(maker, head, padded)
    return maker.batch


def _speech(maker, head):
    shape = maker.shape
    if "input_features" in maker.takes:
        maker.batch["input_features"] = maker.real(shape.batch, shape.seq * 8, first_of(maker.config, "feature_projection_input_dim", "num_mel_bins") or 80)
    else:
        maker.batch["input_values"] = maker.real(shape.batch, shape.seq * 400)
    maker.batch.sizes["S"] = shape.seq
    maker.batch["labels"] = maker.ids(4) if head == "CTC" else maker.whole(shape.batch)


def _language(maker, head, padded):
    maker.text()
    batch, shape, token = maker.batch, maker.shape, None
    if shape.images and "pixel_values" in maker.takes:
        token = first_of(maker.config, "image_token_id", "image_token_index", "img_token_id", "media_placeholder_token_id", "image_patch_id")
        maker.pictures()
        ask = getattr(maker.model, "get_image_features", None) or getattr(getattr(maker.model, "model", None), "get_image_features", None)
        if token is not None and ask is not None:
            maker.placeholders(token, maker.rows_of(ask, "pixel_values", "image_grid_thw", "image_grid_hw", "image_sizes", "pixel_attention_mask"), shape.images)
    elif shape.images and "input_features" in maker.takes:
        token = first_of(maker.config, "audio_token_id", "audio_token_index")
        maker.sounds()
        ask = getattr(maker.model, "get_audio_features", None) or getattr(getattr(maker.model, "model", None), "get_audio_features", None)
        if token is not None and ask is not None:
            maker.placeholders(token, maker.rows_of(ask, "input_features", "feature_attention_mask", "input_features_mask"), shape.images)
    if padded:
        batch["attention_mask"][0, -3:] = 0
    if head == "SEQUENCE_CLASSIFICATION":
        batch["labels"] = maker.whole(shape.batch)
    elif "labels" in maker.takes or maker.takes_any:
        batch["labels"] = _labels(maker, token)


def _labels(maker, token):
    ids, target = maker.batch["input_ids"], maker.shape.target
    if target and getattr(maker.config, "is_encoder_decoder", False):
        maker.batch.sizes["target"] = target
        return maker.ids(target)
    return ids.clone() if token is None else ids.masked_fill(ids == token, -100)
