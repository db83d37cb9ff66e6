"""The cases of record_steps.py that Colossal-AI's Gemini trains: specs with `parallel: gemini`, with chunks so small that there are several."""

GPT2 = {"model_type": "gpt2", "n_embd": 128, "n_layer": 2, "n_head": 4, "vocab_size": 1024}
OPT = {"model_type": "opt", "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1024, "ffn_dim": 256}
CHECKPOINT, REENTRANT = {"checkpointing": "non_reentrant"}, {"checkpointing": "reentrant"}
WHOLE = {"gemini": {}}   # smaller than the least chunk: one, which is never cut


def of(size=0.05, **options):
    """Chunks of about 2^20 * size elements."""
    return {"gemini": {"min_chunk_size_m": size, "search_range_m": 0.05, "hidden_dim": 128, **options}}


def chunks():
    """How many there are, on how many GPUs, and what is kept of them: of a total in which a chunk counts once for each of its parameters."""
    return {
        **{f"{count}_rank_{rank}": {**of(), "gpus": count, "rank": rank} for count, rank in ((1, 0), (3, 2), (4, 0), (8, 7))},
        "keep_all": of(shard_param_frac=0.0), "keep_half": of(shard_param_frac=0.5), "keep_all_reentrant": {**of(shard_param_frac=0.0), **REENTRANT},
        "keep_half_checkpoint": {**of(shard_param_frac=0.5), **CHECKPOINT}, "tiny": of(0.001),
        "whole": WHOLE, "whole_one": {**WHOLE, "gpus": 1}, "whole_last": {**WHOLE, "gpus": 4, "rank": 3}}


def loops():
    clip, accumulate, apart = {"max_grad_norm": 1.0}, {"grad_accumulation": 2}, {"enable_gradient_accumulation": True}
    return {
        "checkpoint": {**of(), **CHECKPOINT}, "reentrant": {**of(), **REENTRANT},
        "clip": {**of(), **clip}, "clip_bf16": {**of(precision="bf16"), **clip}, "clip_whole": {**WHOLE, **clip}, "bf16": of(precision="bf16"), "half": {**of(), "dtype": "fp16"},
        "wide_weights": {**of(), "dtype": "fp32"}, "on_host": {**of(), "load": "wrapped"}, "on_host_whole": {**WHOLE, "dtype": "fp32", "load": "wrapped"},
        "apart": of(**apart), "accumulate": {**of(**apart), **accumulate}, "accumulate_3": {**of(**apart), "grad_accumulation": 3, "gpus": 4},
        "accumulate_one": {**of(**apart), **accumulate, "gpus": 1}, "accumulate_keep_all": {**of(**apart, shard_param_frac=0.0), **accumulate, **clip},
        "accumulate_checkpoint": {**of(**apart), **accumulate, **CHECKPOINT}, "accumulate_whole": {"gemini": apart, **accumulate},
        "accumulate_in_line": {**of(**apart, enable_async_reduce=False), **accumulate, **REENTRANT},
        "in_line": of(enable_async_reduce=False),
        "steps": {**of(), "steps": 5}, "eager": {**of(), "attn": "eager"},
        "long": {**of(), "seq": 192, "batch": 3}, "freeze": {**of(), "freeze": ["embed_tokens", "layers.0."]},
        "freeze_checkpoint": {**of(), "freeze": ["embed_tokens", "layers.1."], **CHECKPOINT}, "freeze_reentrant": {**of(), "freeze": ["layers.1.", "q_proj"], **REENTRANT}, "train_norms": {**of(0.0005), "train_only": ["norm"]}}


def models(model):
    """Each family, with its head tied or not."""
    wide = {**model, "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 1, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 16000}
    tied, opt, gpt2 = {"model": {**model, "tie_word_embeddings": True}}, {"model": OPT}, {"model": GPT2}
    return {
        "tied": {**tied, **of()}, "tied_checkpoint": {**tied, **of(), **CHECKPOINT}, "tied_accumulate": {**tied, **of(enable_gradient_accumulation=True), "grad_accumulation": 2},
        "opt": {**opt, **of()}, "opt_checkpoint": {**opt, **of(), **CHECKPOINT}, "opt_reentrant": {**opt, **of(), **REENTRANT},
        "opt_after": {"model": {**OPT, "do_layer_norm_before": False, "word_embed_proj_dim": 64}, **of()},
        "gpt2": {**gpt2, **of()}, "gpt2_checkpoint": {**gpt2, **of(), **CHECKPOINT}, "gpt2_reentrant": {**gpt2, **of(), **REENTRANT},
        "gpt2_untied": {"model": {**GPT2, "tie_word_embeddings": False}, **of(), "max_grad_norm": 1.0}, "gpt2_last": {**gpt2, **of(), "gpus": 4, "rank": 3},
        "wide": {"model": wide, **of(4, search_range_m=4), "max_grad_norm": 1.0}, "wide_rank_2": {"model": wide, **of(4, search_range_m=4), "max_grad_norm": 1.0, "gpus": 3, "rank": 2},
        "wide_defaults": {"model": wide, "gemini": {}, "gpus": 4}}


def gemini(model):
    cases = {"plain": of(), **chunks(), **loops(), **models(model)}
    return {f"gemini_{name}": {"gpus": 2, "parallel": "gemini", **options} for name, options in cases.items()}
