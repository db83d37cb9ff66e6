"""`--fake-weights`: checkpoints that are all shape and no data.

`from_pretrained` on a folder (or a hub name whose configuration is in the local cache) finds a safetensors file, whether or not there
are weights: its header names every tensor of the model, its data is a hole in a sparse file.  The library's own loading code then runs
unmodified, so the order and the size of what it allocates are those of a real load.  Order and dtype in the file are those of a
checkpoint that `save_pretrained` wrote; published ones are often split over several files, which no allocation depends on.

Nor does the host's memory depend on the checkpoint's size: where safetensors has torch map the file, a tensor's data is a mapping of
its own that takes memory only where it is written.
"""

import copy
import functools
import json
import os
import shutil
import struct
import tempfile

from . import door, losses

_DTYPES = {
    "float64": ("F64", 8),
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
    "int64": ("I64", 8),
    "int32": ("I32", 4),
    "int16": ("I16", 2),
    "int8": ("I8", 1),
    "uint8": ("U8", 1),
    "bool": ("BOOL", 1),
}
_FOLDER = "weights-"
_WEIGHTS = (".safetensors", ".bin", ".safetensors.index.json", ".bin.index.json", ".h5", ".msgpack", ".gguf")


def write_sparse_safetensors(path, tensors):
    """`tensors`: {name: meta tensor}.  The file has its full length and no blocks beyond the header."""

    def described(tensor):
        return _DTYPES[str(tensor.dtype).removeprefix("torch.")]

    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (-described(item[1])[1], item[0])):  # the order of safetensors.save_file
        code, width = described(tensor)
        size = tensor.numel() * width
        header[name] = {"dtype": code, "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


class _Holes:
    """The storage of a file that is one hole, as far as safetensors needs it (bindings/python/src/lib.rs 0.4 to 0.8: `untyped()`, then one slice per tensor).

    PyTorch's own is one private mapping of the whole file, for which the kernel wants as much memory to be there (vm.overcommit_memory 0),
    and whose pages stay once they were read.
    """

    def untyped(self):
        return self

    def __getitem__(self, span):
        import torch

        size = span.stop - span.start
        if size == 0:
            return torch.UntypedStorage(0)
        data = torch.frombuffer(door.host_pages(size), dtype=torch.float8_e5m2)  # one byte each; a float, so that `out` below says that nobody knows its values (host_data.cpp)
        return torch.empty(data.shape, dtype=data.dtype, device="cpu", out=data).untyped_storage()


@functools.cache
def _map_no_weights():
    """A file of weights that we wrote is not mapped; others are."""
    import torch

    real, ours = torch.UntypedStorage.from_file, os.path.join(os.environ["TIDEMARK_RUN_DIR"], _FOLDER)

    @functools.wraps(real)
    def from_file(filename, *args, **kwargs):
        return _Holes() if os.fspath(filename).startswith(ours) else real(filename, *args, **kwargs)

    torch.UntypedStorage.from_file = staticmethod(from_file)


def patch_transformers():
    from transformers.modeling_utils import PreTrainedModel

    _map_no_weights()
    real = PreTrainedModel.from_pretrained.__func__

    @functools.wraps(real)
    def from_pretrained(cls, pretrained_model_name_or_path, *args, config=None, **kwargs):
        if pretrained_model_name_or_path is None or kwargs.get("state_dict") is not None or kwargs.get("gguf_file"):
            return real(cls, pretrained_model_name_or_path, *args, config=config, **kwargs)
        folder = _transformers_checkpoint(cls, pretrained_model_name_or_path, config, kwargs)
        if folder is None:
            return real(cls, pretrained_model_name_or_path, *args, config=config, **kwargs)
        return real(cls, folder, *args, config=config, **{**kwargs, **_plain_names(kwargs)})

    PreTrainedModel.from_pretrained = classmethod(from_pretrained)


def patch_diffusers():
    from diffusers.models.modeling_utils import ModelMixin

    _map_no_weights()
    real = ModelMixin.from_pretrained.__func__

    @functools.wraps(real)
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        folder = _diffusers_checkpoint(cls, pretrained_model_name_or_path, kwargs)
        if folder is None:
            return real(cls, pretrained_model_name_or_path, **kwargs)
        return real(cls, folder, **{**kwargs, **_plain_names(kwargs)})

    ModelMixin.from_pretrained = classmethod(from_pretrained)


@losses.guarded("weights are loaded as they are")
def _transformers_checkpoint(cls, name, config, kwargs):
    loaded = config if hasattr(config, "to_dict") else _transformers_config(config or name, kwargs)
    folder = _folder_like(name, kwargs)
    if not os.path.exists(os.path.join(folder, "config.json")):
        loaded.save_pretrained(folder)
    write_sparse_safetensors(os.path.join(folder, "model.safetensors"), _transformers_tensors(cls, loaded))
    return folder


@losses.guarded("weights are loaded as they are")
def _diffusers_checkpoint(cls, name, kwargs):
    import torch

    config = cls.load_config(name, **_of(kwargs, "subfolder", "revision", "cache_dir", "token", "local_files_only"))
    with torch.device("meta"):
        model = cls.from_config(config)
    folder = _folder_like(None, kwargs)
    model.save_config(folder)
    write_sparse_safetensors(os.path.join(folder, "diffusion_pytorch_model.safetensors"), _stored_once(model))
    return folder


def _transformers_config(name, kwargs):
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(name, **_of(kwargs, "revision", "trust_remote_code", "cache_dir", "subfolder", "token", "local_files_only"))


def _transformers_tensors(cls, config):
    """{name: meta tensor} of the checkpoint that the model would be saved as, in the dtype that its configuration names."""
    import torch

    config = copy.deepcopy(config)
    config._attn_implementation = "eager"  # any will do to make the parameters; others ask for their packages
    before = torch.get_default_dtype()
    torch.set_default_dtype(_stored_dtype(config))
    try:
        with torch.device("meta"):
            model = cls._from_config(config)
    finally:
        torch.set_default_dtype(before)
    tensors = _stored_once(model)
    try:
        from transformers.core_model_loading import revert_weight_conversion  # since 5: fused experts are stored one by one
    except ImportError:
        return tensors
    return dict(revert_weight_conversion(model, tensors))


def _stored_dtype(config):
    import torch

    dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None) or torch.float32
    return dtype if isinstance(dtype, torch.dtype) else getattr(torch, str(dtype).removeprefix("torch."), torch.float32)


def _stored_once(model):
    """The state dict less the second and further names of tied tensors."""
    seen, kept = set(), {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            kept[name] = tensor
    return kept


def _folder_like(name, kwargs):
    """A new folder in the run's own, with everything of a local checkpoint but its weights."""
    folder = tempfile.mkdtemp(dir=os.environ["TIDEMARK_RUN_DIR"], prefix=_FOLDER)
    source = os.path.join(str(name), kwargs.get("subfolder") or "") if name else ""
    for entry in os.listdir(source) if os.path.isdir(source) else ():
        if os.path.isfile(os.path.join(source, entry)) and not entry.endswith(_WEIGHTS):
            shutil.copy(os.path.join(source, entry), folder)
    return folder


def _plain_names(kwargs):
    """Options that say where in a checkpoint the weights are, undone where they were given."""
    undone = {"subfolder": "", "variant": None, "use_safetensors": None, "revision": "main"}
    return {key: value for key, value in undone.items() if key in kwargs}


def _of(kwargs, *names):
    return {name: kwargs[name] for name in names if kwargs.get(name) is not None}
