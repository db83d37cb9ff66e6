"""The sizes at which a model is captured: the one that was asked for, and others near it, so that what is done alike stays alike."""

import dataclasses
import inspect

from .batches import has_one_beside, samples_of, writes_a_target
from .mistakes import Mistake
from .settings import first_of

# Added to samples, tokens, images of a sample, patches down and across.  No two columns go together, so that no expression holds by chance.
_STEPS = ((0, 0, 0, 0, 0), (1, 13, 0, 0, 0), (3, 37, 0, 2, 2), (2, 101, 1, 4, -2), (4, 59, 2, -2, 4), (1, 67, 3, 6, 2))
_TOKENS = 64  # of a sample, where none were asked for
_TEXT_ALONE = 4  # points that do where there are no images
_TARGET_STEPS = (0, 29, 11, 83, 41, 5)  # added to the tokens of a label


def steps_of(shape):
    return _STEPS if shape.images else _STEPS[:_TEXT_ALONE]


def points_from(shape, model):
    """[Shape]: those of a model, up from the one that was asked for, or down where the model takes no longer text."""
    shape = with_length(with_grid(shape, model), getattr(model, "config", None))
    if shape.target and not writes_a_target(getattr(model, "config", None)):
        raise Mistake(f"{type(model).__name__} is no encoder-decoder model: leave the target length out")
    takes = set(inspect.signature(model.forward).parameters)
    if shape.images and not ("input_ids" in takes and {"pixel_values", "input_features", "input_values_cutoffs"} & takes):  # beside a text; one alone is the sample itself
        shape = dataclasses.replace(shape, images=0)
    steps = steps_of(shape)
    longest = first_of(model.config.get_text_config(), "max_position_embeddings", "n_positions", "max_target_positions") if getattr(model, "config", None) else None
    up = longest is None or max(shape.seq + max(step[1] for step in steps), shape.target + max(_TARGET_STEPS)) <= longest
    placed = shape.images and not has_one_beside(model)
    points = []
    for (samples, tokens, images, down, across), target in zip(steps, _TARGET_STEPS):
        more_images = images if placed else 0  # where they stand beside the text there are as many for each
        point = dataclasses.replace(shape, batch=shape.batch + samples, images=shape.images + more_images, grid=(shape.grid[0] + down, shape.grid[1] + across))
        more = tokens + _most_rows(point, model) - _most_rows(shape, model) if up or placed else -min(tokens, shape.seq * tokens // 128)
        more_target = 0 if not shape.target else target if up else -min(target, shape.target * target // 128)
        points.append(dataclasses.replace(point, seq=shape.seq + more, target=shape.target + more_target))
    return points


def _most_rows(shape, model):
    """As many tokens as the images of a sample can take: one for each patch."""
    if not shape.images or getattr(model, "config", None) is None or has_one_beside(model):
        return 0
    side, patch = first_of(model.config, "image_size", "img_size"), first_of(model.config, "patch_size")
    whole = (side // patch + 1) ** 2 if side and patch else first_of(model.config, "max_source_positions") or 0
    return shape.images * max(whole, shape.grid[0] * shape.grid[1])


def with_length(shape, config):
    """Its tokens, or samples of raw audio, where none were asked for."""
    if not shape.seq:
        return dataclasses.replace(shape, seq=samples_of(config, shape.audio_seconds) or _TOKENS)
    return shape


def with_grid(shape, model):
    """Its patches, where the size of images was given in pixels."""
    if shape.image_size is None or getattr(model, "config", None) is None:
        return shape
    patch = first_of(getattr(model.config, "vision_config", model.config), "patch_size")
    if patch is None:
        raise Mistake(f"{model.config.model_type} takes images of one size")
    return dataclasses.replace(shape, grid=tuple(side // patch for side in shape.image_size))
