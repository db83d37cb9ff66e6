"""Images and sounds of a batch, as processors lay them out: told by what else a model's forward takes."""

import torch

from .settings import first_of

SECONDS = 5  # of what is said at once


def says_how(takes):
    """Whether a forward that takes these takes more of images than their pixels."""
    return any(takes & set(names.split()) for names, _ in _LAYOUTS)


def add_images(maker, one_beside=False):
    """Pixel values of the batch's images, with what goes beside them; as many as samples where a text has one beside it."""
    if not one_beside:
        maker.batch.sizes["images"] = maker.shape.pictures
    channels = first_of(maker.config, "num_channels", "in_channels", "in_chans") or 3
    layout = next((layout for names, layout in _LAYOUTS if maker.takes & set(names.split())), _whole)
    layout(maker, channels)


def add_samples(maker):
    """Images that are a sample each."""
    channels, side = first_of(maker.config, "num_channels", "in_channels") or 3, maker.image_size()
    if "spatial_shapes" in maker.takes:
        return _by_shape(maker, channels, maker.shape.batch)
    maker.batch["pixel_values"] = maker.real(maker.shape.batch, channels, side, side)
    if "input_points" in maker.takes:  # one object in each, that a point is on: transformers/models/sam2/processing_sam2.py
        maker.batch["input_points"] = maker.real(maker.shape.batch, 1, 1, 2)
        maker.batch["input_labels"] = maker.whole(maker.shape.batch, 1, 1) + 1


def add_spectrograms(maker):
    """Sounds of ten seconds that are a sample each, and none is longer: of such a cut and three more are fused.  transformers/models/clap/feature_extraction_clap.py, chunk_frames"""
    audio, count = maker.config.audio_config, maker.shape.batch
    maker.batch["input_features"] = maker.real(count, 4 if audio.enable_fusion else 1, 1001, audio.num_mel_bins)
    maker.batch["is_longer"] = torch.zeros(count, 1, dtype=torch.bool, device=maker.device)


def add_sounds(maker):
    """Spectrograms for a language model that listens."""
    audio = next((getattr(maker.config, name) for name in ("audio_config", "encoder_config") if getattr(maker.config, name, None) is not None), maker.config)
    frames = 2 * (first_of(audio, "max_source_positions") or 1500)
    count = maker.shape.pictures
    maker.batch.sizes["images"] = count
    width = first_of(audio, "input_dim")
    if width:  # a conformer's, two frames in a row: transformers/models/granite_speech/feature_extraction_granite_speech.py
        maker.batch["input_features"] = maker.real(count, frames // 2, width)
    else:
        maker.batch["input_features"] = maker.real(count, first_of(audio, "num_mel_bins") or 80, frames)
    for name in ("feature_attention_mask", "input_features_mask"):  # with a width, the latter is of what the model makes of them (batches.py)
        if name in maker.takes and not width:
            maker.batch[name] = torch.ones(count, frames, dtype=torch.long, device=maker.device)


def add_utterances(maker):
    """Sounds as they are, which a codec makes tokens of; how many of each (transformers: models/csm/processing_csm.py)."""
    codec = next(part for part in maker.model.modules() if hasattr(part, "get_encoded_length"))
    samples = SECONDS * maker.config.codec_config.sampling_rate
    ends = torch.arange(1, maker.shape.images + 1, device=maker.device) * samples
    maker.batch.sizes["images"] = maker.shape.pictures
    maker.batch["input_values"] = maker.real(maker.shape.batch, 1, maker.shape.images * samples)
    maker.batch["input_values_cutoffs"] = ends.expand(maker.shape.batch, -1).clone()
    return int(codec.get_encoded_length(ends[:1]))


def _by_grid(maker, channels):
    """Patches in a row, of images of any size: transformers' Qwen2VLImageProcessor and its kin."""
    vision = getattr(maker.config, "vision_config", maker.config)
    grid = next(name for name in ("image_grid_thw", "image_grid_hw", "grid_thws") if name in maker.takes)
    merged = first_of(vision, "spatial_merge_size") or 1  # so many patches each way are one token
    (down, across), count, patch = (-(-side // merged) * merged for side in maker.shape.grid), maker.shape.pictures, first_of(vision, "patch_size")
    times = first_of(vision, "temporal_patch_size")
    # What is given to a convolution patch by patch keeps their sides, where frames are not merged: transformers/models/paddleocr_vl/image_processing_paddleocr_vl.py
    values = (channels, patch, patch) if times is None and _has_flat_convolution(maker.model) else (channels * (times or 1) * patch * patch,)
    maker.batch["pixel_values"] = maker.real(count * down * across, *values)
    maker.batch[grid] = torch.tensor([[1, down, across]] * count, device=maker.device)
    maker.batch.sizes.update(grid_h=down, grid_w=across)


def _has_flat_convolution(model):
    return any(isinstance(module, torch.nn.Conv2d) for module in model.modules())


def _by_position(maker, channels):
    """Patches of each image beside their places: transformers' Gemma4ImageProcessor, whose images are as large as its tokens allow."""
    vision = maker.config.vision_config
    pooled = first_of(vision, "pooling_kernel_size") or 1  # so many patches each way are one token
    (down, across), count, patch = (-(-side // pooled) * pooled for side in maker.shape.grid), maker.shape.pictures, first_of(vision, "patch_size")
    maker.batch["pixel_values"] = maker.real(count, down * across, channels * patch * patch)
    y, x = torch.meshgrid(torch.arange(down, device=maker.device), torch.arange(across, device=maker.device), indexing="ij")
    maker.batch["image_position_ids"] = torch.stack([x, y], -1).view(1, down * across, 2).repeat(count, 1, 1)
    maker.batch.sizes.update(grid_h=down, grid_w=across)


def _by_shape(maker, channels, count=None):
    """Patches of each image beside its shape: transformers' Siglip2ImageProcessor."""
    vision = getattr(maker.config, "vision_config", maker.config)
    patch, count, (down, across) = first_of(vision, "patch_size"), count or maker.shape.pictures, maker.shape.grid
    maker.batch["pixel_values"] = maker.real(count, down * across, channels * patch * patch)
    maker.batch["pixel_attention_mask"] = torch.ones(count, down * across, dtype=torch.int32, device=maker.device)
    maker.batch["spatial_shapes"] = torch.tensor([[down, across]] * count, device=maker.device)
    maker.batch.sizes.update(grid_h=down, grid_w=across)


def _in_tiles(maker, channels):
    """As many tiles as fit, of each image of a sample: transformers' MllamaImageProcessor."""
    shape, side, tiles = maker.shape, maker.image_size(), first_of(maker.config, "max_num_tiles")
    maker.batch["pixel_values"] = maker.real(shape.batch, shape.images, tiles, channels, side, side)
    maker.batch["aspect_ratio_ids"] = torch.ones(shape.batch, shape.images, dtype=torch.long, device=maker.device)
    maker.batch["aspect_ratio_mask"] = torch.ones(shape.batch, shape.images, tiles, dtype=torch.long, device=maker.device)
    maker.batch["cross_attention_mask"] = torch.ones(shape.batch, shape.seq, shape.images, tiles, dtype=torch.long, device=maker.device)


def _of_samples(maker, channels):
    """All images of a sample together: transformers' Idefics3ImageProcessor; a robot's cameras, with what it does."""
    shape, side = maker.shape, maker.image_size()
    maker.batch["pixel_values"] = maker.real(shape.batch, shape.images, channels, side, side)
    if "actions" in maker.takes:
        maker.batch["pixel_attention_mask"] = torch.ones(shape.batch, shape.images, dtype=torch.bool, device=maker.device)
        maker.batch["state"] = maker.real(shape.batch, maker.config.max_state_dim)
        maker.batch["actions"] = maker.real(shape.batch, maker.config.chunk_size, maker.config.max_action_dim)
    else:
        maker.batch["pixel_attention_mask"] = maker.whole(shape.batch, shape.images, side, side) + 1


def _by_size(maker, channels):
    """With the sizes of images: those that are cut into tiles of the first of the pinpoints, or one of the tower's size."""
    count, side = maker.shape.pictures, maker.image_size()
    pinpoints = getattr(maker.config, "image_grid_pinpoints", None)
    if pinpoints:
        down, across = pinpoints[0]
        maker.batch["pixel_values"] = maker.real(count, 1 + (down // side) * (across // side), channels, side, side)
        maker.batch["image_sizes"] = torch.tensor([[down, across]] * count, device=maker.device)
        maker.batch.sizes.update(image_h=down, image_w=across)
        return
    maker.batch["pixel_values"] = maker.real(count, channels, side, side)
    if getattr(getattr(maker.config, "vision_config", None), "model_type", "") == "pixtral":
        maker.batch["image_sizes"] = torch.tensor([[side, side]] * count, device=maker.device)


def _whole(maker, channels):
    count, side = maker.shape.pictures, maker.image_size()
    maker.batch["pixel_values"] = maker.real(count, channels, side, side)
    if "qformer_input_ids" in maker.takes:  # what is asked, once more in the words of its Q-Former
        length = min(maker.shape.seq, 8)
        maker.batch["qformer_input_ids"] = torch.ones(count, length, dtype=torch.long, device=maker.device)
        maker.batch["qformer_attention_mask"] = torch.ones(count, length, dtype=torch.long, device=maker.device)


# By what a forward takes; the first that has one of the names.
_LAYOUTS = (
    ("image_grid_thw image_grid_hw grid_thws", _by_grid),
    ("image_position_ids", _by_position),
    ("spatial_shapes", _by_shape),
    ("aspect_ratio_ids", _in_tiles),
    ("pixel_attention_mask", _of_samples),
    ("image_sizes", _by_size),
)
