"""A batch for any model, from what its forward takes and what its configuration says.

A batch has `batch` samples of `seq` tokens (those of images and sounds included), of `images` images, or sounds, each.  Where a model takes images of any size, `grid`
is the number of patches down and across.
"""

import dataclasses
import inspect

import torch

from .generation import DECODE, PREFILL, add_prompt, add_token
from .mistakes import Mistake
from .pictures import add_images, add_samples, add_sounds, add_spectrograms, add_utterances, says_how
from .recorder import is_tensor
from .settings import first_of, parts_of
from .terms import leaves

FRAMES_OF_A_LABEL = 3  # of 20 milliseconds: about as many letters as people say
SAMPLING_RATE = 16000  # of a second of raw audio (transformers 5.24.0: Wav2Vec2FeatureExtractor)
USUAL_SECONDS = 10  # src/program/sample_lengths.h, kUsualAudioSeconds


@dataclasses.dataclass(frozen=True)
class Shape:
    batch: int
    seq: int
    images: int = 0
    grid: tuple = (8, 12)
    image_size: tuple = None  # pixels down and across, where it decides `grid`
    target: int = 0  # tokens of a label, of an encoder-decoder model (0: as many as `seq`)
    audio_seconds: float = 0  # of raw audio, where `seq` is 0 (points.py, with_length)

    @property
    def pictures(self):
        return self.batch * self.images


class Batch(dict):
    """Keyword arguments of a forward pass, and the sizes in them by name."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes


class _Maker:
    def __init__(self, model, shape, device):
        self.model, self.config, self.shape, self.device = model, model.config, shape, device
        parameters = inspect.signature(model.forward).parameters
        self.takes, self.takes_any = set(parameters), any(p.kind == p.VAR_KEYWORD for p in parameters.values())
        self.batch = Batch({"B": shape.batch})

    def whole(self, *sizes):
        return torch.zeros(*sizes, dtype=torch.long, device=self.device)

    def real(self, *sizes):
        return torch.ones(*sizes, dtype=self.model.dtype, device=self.device)  # zeros would be padding

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
        return first_of(self.config, "image_size", "img_size", "crop_size") or self._size_of_timm() or 224

    def _size_of_timm(self):
        """Of a tower that is timm's, whose own configuration says how large its images are; None of others."""
        towers = (module.pretrained_cfg for module in self.model.modules() if isinstance(getattr(module, "pretrained_cfg", None), dict))
        return next((cfg["input_size"][-1] for cfg in towers if "input_size" in cfg), None)

    def placeholders(self, token, rows, each):
        """Puts `rows` of the token for each of `each` images into every sample, with a word between them: two where the first is the token that opens an image, as another one ends the image before it."""
        ids = self.batch["input_ids"]
        opening = None if "mm_token_type_ids" in self.takes else first_of(self.config, "vision_start_token_id")  # models that look for it, and step over what ends an image: transformers/models/qwen2_5_omni, get_rope_index
        step = rows + (1 if opening is None else 2)
        if each * step + 1 > ids.shape[1]:
            raise Mistake(f"{ids.shape[1]} tokens have no room for {each} x {rows} of images: {each * step + 1} would do")
        ids[ids == token] = 4 if token != 4 else 3
        for start in range(1, each * step, step):
            ids[:, start : start + rows] = token
            if opening is not None:
                ids[:, start - 1] = opening
        for name in ("token_type_ids", "mm_token_type_ids", "moe_mm_token_type_ids"):
            if name in self.takes:
                self.batch[name] = (ids == token).long()

    def rows_of(self, function):
        """How many tokens the model makes of one image or sound, by asking it: with what it was given, and what the configuration, or that of a part, says."""
        given, takes = {}, inspect.signature(function).parameters
        for name, parameter in takes.items():
            if name in self.batch:
                value = self.batch[name]
                given[name] = value.flatten(0, 1) if name == "pixel_values" and value.dim() == 5 and "pixel_attention_mask" not in takes else value  # a robot's cameras one after another
            elif parameter.default is parameter.empty and parameter.kind == parameter.POSITIONAL_OR_KEYWORD:
                given |= next(({name: getattr(part, name)} for part in parts_of(self.config) if hasattr(part, name)), {})
        features = function(**given)
        pooled, deep = getattr(features, "pooler_output", None), getattr(features, "deepstack_features", None)
        pooled = deep[0][1] if pooled is None and deep else pooled  # of one of the layers that are given some: transformers/models/granite4_vision
        features = pooled if pooled is not None else getattr(features, "last_hidden_state", features)
        return sum(t.numel() // t.shape[-1] for _, t in leaves(features, is_tensor)) // self.shape.pictures

    def method(self, name):
        """Of the model, or of what it wraps: the first that says what it takes."""
        found = [getattr(part, name) for part in self.model.modules() if hasattr(part, name)]
        says = (f for f in found if any(p.kind == p.POSITIONAL_OR_KEYWORD for p in inspect.signature(f).parameters.values()))
        return next(says, found[0] if found else None)


def batch_of(model, head, shape, device, padded=False):
    """The batch of a model that transformers knows by `head`."""
    maker = _Maker(model, shape, device)
    if head == "IMAGE_CLASSIFICATION":
        add_samples(maker)
        maker.batch["labels"] = maker.whole(shape.batch)
    elif head == "FEATURES" and "input_ids" not in maker.takes:  # of images alone: transformers/models/dinov3_vit
        add_samples(maker)
    elif head == PREFILL:
        add_prompt(maker)
    elif head == DECODE:
        add_token(maker)
    elif head == "CONTRASTIVE":
        maker.text()
        add_spectrograms(maker) if "is_longer" in maker.takes else add_samples(maker)
        maker.batch["return_loss"] = True
    elif head in ("CTC", "AUDIO_CLASSIFICATION"):
        _speech(maker, head)
    elif head == "SPEECH_SEQ_2_SEQ" and "input_features" in maker.takes and not hasattr(maker.config, "audio_token_id"):
        frames, tokens = 2 * (first_of(maker.config, "max_source_positions") or 1500), shape.target or shape.seq
        maker.batch.update(input_features=maker.real(shape.batch, first_of(maker.config, "num_mel_bins") or 80, frames), labels=maker.ids(tokens))
        maker.batch.sizes["S"] = tokens
    else:
        _language(maker, head, padded)
    return maker.batch


def _speech(maker, head):
    """`seq` is how many samples of a sound there are, where a model hears it as it is."""
    shape = maker.shape
    if "input_features" in maker.takes:
        maker.batch["input_features"] = maker.real(shape.batch, shape.seq * 8, first_of(maker.config, "feature_projection_input_dim", "num_mel_bins") or 80)
        labels = 4
    else:
        first, step = frames_of(maker.config)
        labels = ((shape.seq - first) // step + 1) // FRAMES_OF_A_LABEL
        if labels < 1:
            raise Mistake(f"{shape.seq} samples of a sound are less than a letter has: {first + step * (FRAMES_OF_A_LABEL - 1)} would do")
        maker.batch["input_values"] = maker.real(shape.batch, shape.seq)
        if getattr(maker.config, "feat_extract_norm", None) == "layer":  # transformers' Wav2Vec2FeatureExtractor, return_attention_mask: not of those that have group_norm
            maker.batch["attention_mask"] = torch.ones(shape.batch, shape.seq, dtype=torch.long, device=maker.device)
    maker.batch.sizes["S"] = shape.seq
    maker.batch["labels"] = maker.ids(labels) if head == "CTC" else maker.whole(shape.batch)


def frames_of(config):
    """(samples of the first frame, and of each more) of what hears sounds as they are; None of others."""
    kernels, strides = (getattr(config, name, None) for name in ("conv_kernel", "conv_stride"))
    if not isinstance(kernels, (list, tuple)) or not isinstance(strides, (list, tuple)):
        return None
    first, step = 1, 1
    for kernel, stride in zip(kernels, strides):
        first, step = first + (kernel - 1) * step, step * stride
    return first, step


def samples_of(config, seconds):
    """Samples of so many seconds of raw audio (0: USUAL_SECONDS); None of a model that takes none."""
    return None if frames_of(config) is None else round((seconds or USUAL_SECONDS) * SAMPLING_RATE)


def heard(config, tokens):
    """How long a text of so many tokens is.  Of what hears sounds as they are, the samples of a sound of so many letters; where they are even, one less: so that captures tell where a frame begins."""
    frames = frames_of(config)
    return tokens if frames is None else frames[0] + frames[1] * (FRAMES_OF_A_LABEL * tokens - 1) - (tokens % 2 == 0)


def names_of_frames(config, sounds):
    """{expression: its numbers} of sounds of so many samples: their frames, letters, and spans of frames that are masked."""
    frames = frames_of(config)
    if frames is None:
        return {}
    first, step = frames
    counts = {each: tuple((samples - first + step) // each for samples in sounds) for each in (step, FRAMES_OF_A_LABEL * step)}
    names = {f"((S - {first - step})//{each})": column for each, column in counts.items()}
    masked = _masked(config)
    if masked:
        least, each = masked
        names[f"max({least}, ceildiv(((S - {first - step})//{step}), {each}))"] = tuple(max(least, -(-count // each)) for count in counts[step])
    return names


def _masked(config):
    """(the least spans that are masked, of how many frames there is one) by SpecAugment; None where there are none, or of no whole number of frames (transformers/models/wav2vec2, _compute_mask_indices)."""
    chance = getattr(config, "mask_time_prob", 0.0)
    each = round(config.mask_time_length / chance) if chance and getattr(config, "apply_spec_augment", True) else 0
    return (config.mask_time_min_masks, each) if each and abs(each * chance - config.mask_time_length) < 1e-9 else None


def guards_of_frames(config):
    """Sounds that have room for a letter, and for all spans that are masked, apart from each other."""
    frames, masked = frames_of(config), frames_of(config) and _masked(config)
    if frames is None:
        return []
    least = max(FRAMES_OF_A_LABEL, (masked[0] + 1) * config.mask_time_length if masked else 0)
    return [f"S >= {frames[0] + frames[1] * (least - 1)}"]


def token_of_images(config):
    """What stands in a text for each row of an image; None where images are beside the text."""
    return first_of(config, "image_token_id", "image_token_index", "img_token_id", "media_placeholder_token_id", "image_patch_id")


def has_one_beside(model):
    """Whether a text has one image beside it, and none in it: transformers/models/blip."""
    if getattr(model, "config", None) is None:  # of a module of the user's own nothing is known
        return False
    takes = set(inspect.signature(model.forward).parameters)
    return {"input_ids", "pixel_values"} <= takes and not says_how(takes) and token_of_images(model.config) is None


def _language(maker, head, padded):
    maker.text()
    batch, shape, token = maker.batch, maker.shape, None
    if shape.images and "pixel_values" in maker.takes:
        token, one_beside = token_of_images(maker.config), has_one_beside(maker.model)
        if shape.images > 1 and one_beside:
            raise Mistake(f"{type(maker.model).__name__} takes one image beside each text, and {shape.images} are asked for")
        add_images(maker, one_beside)
        _place(maker, token, "get_image_features")
    elif shape.images and "input_features" in maker.takes:
        token = first_of(maker.config, "audio_token_id", "audio_token_index")
        add_sounds(maker)
        _place(maker, token, "get_audio_features")
    elif "input_values_cutoffs" in maker.takes:
        batch["labels"] = _spoken(maker)
    if padded:
        batch["attention_mask"][0, -3:] = 0
    if head == "SEQUENCE_CLASSIFICATION":
        batch["labels"] = maker.whole(shape.batch)
    elif "labels" not in batch and head != "FEATURES" and "actions" not in maker.takes and ("labels" in maker.takes or maker.takes_any):
        batch["labels"] = _labels(maker, token)


def _spoken(maker):
    """The labels of a text that is said: what is said is learned, and that it ends (transformers/models/csm/processing_csm.py, output_labels)."""
    token, end = maker.config.audio_token_id, maker.config.audio_eos_token_id
    if not maker.shape.images:
        raise Mistake(f"{type(maker.model).__name__} learns what is said: how many sounds has a sample? (images)")
    rows = add_utterances(maker)
    maker.placeholders(token, rows, maker.shape.images)
    ids = maker.batch["input_ids"]
    ids[:, rows + 1 :: rows + 1][:, : maker.shape.images] = end
    return ids.masked_fill((ids != token) & (ids != end), -100)


def _place(maker, token, asked):
    """Tokens of images or sounds, as many as the model makes of them."""
    ask = maker.method(asked)
    if token is None:
        return
    if ask is not None:
        rows = maker.rows_of(ask)
        maker.placeholders(token, rows, maker.shape.images)
        if "input_features" in maker.batch and "input_features_mask" in maker.takes - set(maker.batch):  # which of those are no padding: transformers/models/granite_speech/processing_granite_speech.py
            maker.batch["input_features_mask"] = torch.ones(maker.shape.pictures, rows, dtype=torch.bool, device=maker.device)
    elif "feature_attention_mask" in maker.batch:  # of its own lengths: transformers/models/qwen2_audio
        tower = next(module for module in maker.model.modules() if hasattr(module, "_get_feat_extract_output_lengths"))
        maker.placeholders(token, int(tower._get_feat_extract_output_lengths(maker.batch["feature_attention_mask"].sum(-1))[1][0]), maker.shape.images)


def writes_a_target(config):
    """Whether labels may be of another length than what is read: of an encoder-decoder model."""
    return getattr(config, "is_encoder_decoder", False)


def _labels(maker, token):
    ids, target = maker.batch["input_ids"], maker.shape.target
    if target and writes_a_target(maker.config):
        maker.batch.sizes["target"] = target
        return maker.ids(target)
    return ids.clone() if token is None else ids.masked_fill(ids == token, -100)
