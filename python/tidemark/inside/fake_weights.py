"""`--fake-weights`: checkpoints that are all shape and no data.

`from_pretrained` on a folder (or hub name in the local cache) that has a config.json and no weights finds a safetensors file all the
same: its header names every tensor of the model, its data is a hole in a sparse file.  The library's own loading code then runs
unmodified, so the order and the size of what it allocates are those of a real load.
"""

import json
import os
import struct
import tempfile

_DTYPES = {"torch.float32": ("F32", 4), "torch.float16": ("F16", 2), "torch.bfloat16": ("BF16", 2), "torch.float64": ("F64", 8), "torch.int64": ("I64", 8),
           "torch.int32": ("I32", 4), "torch.int16": ("I16", 2), "torch.int8": ("I8", 1), "torch.uint8": ("U8", 1), "torch.bool": ("BOOL", 1)}


def write_sparse_safetensors(path, tensors):
    """`tensors`: {name: meta tensor}.  The file has its full length and no blocks beyond the header."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        code, width = _DTYPES[str(tensor.dtype)]
        size = tensor.numel() * width
        header[name] = {"dtype": code, "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


def patch_transformers():
    import transformers

    real = transformers.PreTrainedModel.from_pretrained.__func__

    def from_pretrained(cls, name, *args, config=None, **kwargs):
        folder = _folder_with_hole(cls, transformers, name, config, kwargs)
        return real(cls, folder or name, *args, config=config if folder is None else None, **kwargs)

    transformers.PreTrainedModel.from_pretrained = classmethod(from_pretrained)


def _folder_with_hole(cls, transformers, name, config, kwargs):
    """A temporary folder with the config and a sparse checkpoint, or None where `name` has weights of its own."""
    import torch

    if name and os.path.isdir(str(name)) and any(f.endswith((".safetensors", ".bin")) for f in os.listdir(str(name))):
        return None
    if config is None:
        config = transformers.AutoConfig.from_pretrained(name, **{k: kwargs[k] for k in ("revision", "trust_remote_code", "cache_dir") if k in kwargs})
    dtype = kwargs.get("dtype") or kwargs.get("torch_dtype") or getattr(config, "dtype", None) or torch.float32
    dtype = dtype if isinstance(dtype, torch.dtype) else getattr(torch, str(dtype).replace("torch.", ""), None) or getattr(config, "dtype", None) or torch.float32
    with torch.device("meta"):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            model = cls._from_config(config)
        finally:
            torch.set_default_dtype(before)
    tied = set(getattr(model, "all_tied_weights_keys", None) or getattr(model, "_tied_weights_keys", None) or ())
    folder = tempfile.mkdtemp(dir=os.environ["TIDEMARK_RUN_DIR"], prefix="weights-")
    config.save_pretrained(folder)
    write_sparse_safetensors(os.path.join(folder, "model.safetensors"), {k: v for k, v in model.state_dict().items() if k not in tied})
    return folder
