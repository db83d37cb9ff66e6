"""What is to be captured: a model as transformers builds it from a configuration, or as a function of the user's makes it."""

import contextlib
import difflib
import functools
import importlib.util
import inspect
import json
import os
import sys
from collections import Counter

import torch

from .batches import Batch, Shape, batch_of
from .generation import PHASES
from .mistakes import Mistake
from .settings import parts_of

# The first table that knows the model type decides what is trained; transformers/models/auto/modeling_auto.py names them.
HEADS = ("IMAGE_TEXT_TO_TEXT", "SPEECH_SEQ_2_SEQ", "SEQ_TO_SEQ_CAUSAL_LM", "CAUSAL_LM", "MASKED_LM", "IMAGE_CLASSIFICATION", "CTC", "AUDIO_CLASSIFICATION")
SEQUENCE_CLASSIFICATION = "SEQUENCE_CLASSIFICATION"
CONTRASTIVE = "CONTRASTIVE"  # images and their captions are brought near to each other
FEATURES = "FEATURES"  # of what makes no loss: the mean of its last hidden state
MASKS = "MASKS"  # the same of what has none: the mean of the masks that it predicts
LABELS = "LABELS"  # of what makes a loss of labels, and stands in no table of those that do: transformers/models/csm
_TABLES = {CONTRASTIVE: "ZERO_SHOT_IMAGE_CLASSIFICATION"}  # what modeling_auto.py calls it, where that is something else


def classes_of(kind):
    """{head: the classes that transformers trains for it}, of a model type; the first is the usual one."""
    from transformers.models.auto import modeling_auto

    tables = {head: getattr(modeling_auto, f"MODEL_FOR_{_TABLES.get(head, head)}_MAPPING_NAMES", {}).get(kind) for head in (*HEADS, SEQUENCE_CLASSIFICATION, CONTRASTIVE)}
    found = {head: (name,) if isinstance(name, str) else name for head, name in tables.items() if name}
    return found or _without_a_table(modeling_auto.MODEL_MAPPING_NAMES.get(kind))


def _without_a_table(name):
    """Of a class that no table of heads has: whether it makes a loss of itself."""
    import transformers

    if not isinstance(name, str):
        return {}
    takes = inspect.signature(getattr(transformers, name).forward).parameters
    return {CONTRASTIVE if "return_loss" in takes else LABELS if "labels" in takes else FEATURES: (name,)}


def _with_loss_of_features(cls):
    """The class with a loss: the mean of its last hidden state, or of the masks that it predicts (transformers/models/sam2), in the place of whatever is trained behind it."""

    @functools.wraps(cls.forward)
    def forward(self, *args, **kwargs):
        output = cls.forward(self, *args, **kwargs)
        output["loss"] = output[trained].mean()
        return output

    gives_masks = "pred_masks" in getattr(inspect.signature(cls.forward).return_annotation, "__dataclass_fields__", {})
    trained, trained_for = ("pred_masks", MASKS) if gives_masks else ("last_hidden_state", FEATURES)
    return type(cls.__name__, (cls,), {"forward": forward, "trained_for": trained_for, "__module__": cls.__module__})


def _trained_of(keys):
    """The keys of the part that is trained, of a whole whose class has no forward, and only calls its parts to generate: the thinker of transformers/models/qwen2_5_omni."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = keys["model_type"]
    if kind not in CONFIG_MAPPING or classes_of(kind) or not _only_generates(kind):
        return keys
    of = {name: part.model_type for name, part in CONFIG_MAPPING[kind].sub_configs.items() if set(classes_of(getattr(part, "model_type", None)) or ()) & set(HEADS)}
    return next(({**(keys.get(name) or {}), "model_type": part} for name, part in of.items()), keys)


def _only_generates(kind):
    import transformers
    from transformers.models.auto import modeling_auto

    named = {table.get(kind) for name, table in vars(modeling_auto).items() if name.startswith("MODEL_") and name.endswith("_MAPPING_NAMES")} - {None}
    return bool(named) and all(isinstance(name, str) and getattr(transformers, name).forward is torch.nn.Module.forward for name in named)


class Source:
    """Where a model comes from.  `config` is as it was given, for the program's header; `make(dtype, device)` builds the model, `batch(model, shape, device)` what it is called with."""

    def __init__(self, config, make, batch):
        self.config, self.make, self.batch = config, make, batch
        self.weights = None  # the name of the dtype that most of a module's own are of, where it says so itself


def _named_in_file(where):
    path, _, function = where.rpartition(":")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        names = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", None) == module.__name__]
        raise Mistake(f"{path}: no function {function}" + (f"; it has {', '.join(names)}" if names else ""))
    return getattr(module, function)


def _configuration(where):
    """The keys of a config.json: of a file, a folder, or a name on the hub whose configuration is in the local cache."""
    if os.path.isdir(where):
        where = os.path.join(where, "config.json")
    if not os.path.exists(where) and not where.endswith(".json"):
        from transformers.utils import cached_file

        found = cached_file(where, "config.json", local_files_only=True, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_connection_errors=False)
        if found is None:
            raise Mistake(f"{where}: neither a file nor a name whose configuration is in the local cache")
        where = found
    try:
        with open(where) as file:
            return json.load(file)
    except json.JSONDecodeError as error:
        raise Mistake(f"{where}: not JSON: {error}") from None


def class_of(config, keys, head, where):
    """(class, head): that of the configuration's `architectures` where it is one that is trained, else the first that the model type has."""
    import transformers

    kind = config.model_type
    of = {h: names[0] for h, names in classes_of(kind).items()}
    if head is not None and head.upper() in PHASES:
        return _generating(of, kind, where), head.upper()
    if head is not None:
        wanted = head.upper()
        if wanted not in of:
            raise Mistake(f"{where}: {kind} has no {head} head" + (f"; it has {', '.join(h.lower() for h in of)}" if of else ""))
    else:
        asked = set(keys.get("architectures") or ())
        usual = [h for h in of if h not in (SEQUENCE_CLASSIFICATION, CONTRASTIVE)] or list(of)
        wanted = next((h for h, name in of.items() if name in asked), None) or next(iter(usual), None)
        if wanted is None:
            raise Mistake(f"{where}: transformers has no model with a loss for {kind}")
    cls = getattr(transformers, of[wanted])
    return (_with_loss_of_features(cls) if wanted == FEATURES else cls), wanted


def _generating(of, kind, where):
    """The class that generate() is called of."""
    import transformers

    classes = (getattr(transformers, of[head]) for head in ("IMAGE_TEXT_TO_TEXT", "CAUSAL_LM") if head in of)
    found = next((cls for cls in classes if cls.can_generate()), None)
    if found is None:
        raise Mistake(f"{where}: transformers generates no text by a model of type {kind}")
    return found


def from_configuration(keys, where, head=None, attention=None, cache=None, padded=False, experts=None):
    """What transformers builds from the keys of a configuration; None stands for what transformers chooses."""
    import transformers

    if not isinstance(keys, dict) or "model_type" not in keys:
        raise Mistake(f"{where}: no model_type in it")
    whole, keys = keys["model_type"], _trained_of(keys)
    kind = keys["model_type"]
    if kind not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        near = difflib.get_close_matches(kind, list(transformers.models.auto.configuration_auto.CONFIG_MAPPING), 1)
        raise Mistake(f"{where}: transformers {transformers.__version__} has no model type {kind}" + (f"; the nearest is {near[0]}" if near else ""))

    chosen = {key: value for key, value in (("attn_implementation", attention), ("experts_implementation", experts)) if value}

    def make(dtype, device):
        config = transformers.AutoConfig.for_model(**keys)
        cls, _ = class_of(config, keys, head, where)
        for part in parts_of(config):
            if cache is not None and hasattr(part, "use_cache"):
                part.use_cache = cache
        with torch.device(device), _without_initial_values():
            model = cls._from_config(config, dtype=dtype, **chosen)
        model.tie_weights()  # which is left out where weights get no initial values
        model.of_whole = whole if whole != kind else ""
        return model.to(device).train(known_as not in PHASES)  # torch.Tensor(…) takes no notice of the device around it: models/wav2vec2

    config = transformers.AutoConfig.for_model(**keys)
    known_as = class_of(config, keys, head, where)[1]
    return Source(keys, make, lambda model, shape, device: batch_of(model, known_as, shape, device, padded))


def output_embeddings(model):
    """The name of the module that makes logits; None where a model has none, or does not say; "none" where it denies one that has a usual name (a class without input embeddings)."""
    try:
        found = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    if found is None:
        return "none" if hasattr(model, "lm_head") else None
    return next((name for name, module in model.named_modules() if module is found), None)


def _without_initial_values():
    """Weights without values; where this release of transformers keeps that."""
    for path in ("transformers.initialization", "transformers.modeling_utils"):
        with contextlib.suppress(ImportError, AttributeError):
            return importlib.import_module(path).no_init_weights()
    return contextlib.nullcontext()


def find(request):
    """The source that a request names."""
    where = request["source"]
    if ".py:" in where:
        return _from_function(_named_in_file(where), where)
    return from_configuration(_configuration(where), where, request["head"], request["attn"], request["use_cache"], request["padded"], request["experts"])


def _from_function(function, where):
    """Of a function of the user's that returns a module and the keyword arguments of its forward; it is given those of batch, seq and images that it takes."""
    takes = inspect.signature(function).parameters

    def made(shape, device):
        sizes = {name: value for name, value in (("batch", shape.batch), ("seq", shape.seq), ("images", shape.images)) if name in takes}
        with torch.device(device):
            result = function(**sizes)
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], torch.nn.Module) and isinstance(result[1], dict)):
            raise Mistake(f"{where} returns no pair of a module and a dict of what its forward is called with")
        return (*result, sizes)

    def make(dtype, device):
        model = made(Shape(2, 64, 1), device)[0]
        own = main_dtype(model)
        source.weights = str(own).removeprefix("torch.") if own else None
        return model._apply(lambda weight: weight.to(device=device, dtype=dtype if weight.dtype == own else weight.dtype)).train()

    def batch(model, shape, device):
        dtype = main_dtype(model) or torch.float32
        _, given, sizes = made(shape, device)
        batch = Batch({{"batch": "B", "seq": "S", "images": "images"}[name]: value for name, value in sizes.items()})
        batch.update({k: v.to(device=device, dtype=dtype if v.is_floating_point() else v.dtype) if isinstance(v, torch.Tensor) else v for k, v in given.items()})
        return batch

    source = Source(None, make, batch)
    return source


def main_dtype(module):
    """The floating dtype that most of its weights' numbers are of; what is of another stays so (fp32 adapters beside bf16 weights).  None: it has no such."""
    numbers = Counter()
    for weight in (*module.parameters(), *module.buffers()):
        if weight.is_floating_point():
            numbers[weight.dtype] += weight.numel()
    return numbers.most_common(1)[0][0] if numbers else None
