"""A package `flash_attn` of few functions, over the copy of FlashAttention 2 that torch has (aten/src/ATen/native/transformers/cuda/flash_attn): the package itself needs a compiler for CUDA."""

import pathlib
import shutil

VERSION = "2.8.3"
ABOUT = {"METADATA": f"Metadata-Version: 2.1\nName: flash_attn\nVersion: {VERSION}\n", "top_level.txt": "flash_attn\n", "RECORD": "flash_attn/__init__.py,,\n"}


def installed_in(folder):
    """The folder, which a program has on its path then."""
    package, about = folder / "flash_attn", folder / f"flash_attn-{VERSION}.dist-info"
    for path in (package, about):
        path.mkdir(parents=True, exist_ok=True)
    shutil.copy(pathlib.Path(__file__), package / "__init__.py")
    (package / "bert_padding.py").write_text("pad_input = unpad_input = None\n")
    for name, text in ABOUT.items():
        (about / name).write_text(text)
    return folder


def attended(q, k, v, cu_q, cu_k, longest_q, longest_k, dropout_p, softmax_scale, causal, window_size):
    import torch

    window = {"window_size_left": window_size[0], "window_size_right": window_size[1]} if max(window_size) >= 0 else {}
    return torch.ops.aten._flash_attention_forward(q, k, v, cu_q, cu_k, longest_q, longest_k, dropout_p, causal, False, scale=softmax_scale, **window)[0]


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False):
    """q (B, S, H, D), k and v (B, T, K, D)."""
    return attended(q, k, v, None, None, q.shape[1], k.shape[1], dropout_p, softmax_scale, causal, window_size)


def flash_attn_varlen_func(
    q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False, block_table=None
):
    """q (tokens, H, D): samples one behind the other, between the bounds in cu_seqlens_q."""
    return attended(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, softmax_scale, causal, window_size)


def flash_attn_with_kvcache(*arguments, **more):
    raise NotImplementedError("it is of inference")
