"""What LLMem (arXiv 2404.10933, IJCAI 2024) says of its trainings, and the models' configurations, which are public: config.json of the repository
of each name on huggingface.co, with the keys that decide sizes."""

OPT = {"model_type": "opt", "vocab_size": 50272, "max_position_embeddings": 2048}
BLOOM = {"model_type": "bloom", "vocab_size": 250880}
CODEGEN = {"model_type": "codegen", "vocab_size": 51200, "n_positions": 2048}
MODELS = {
    "facebook/opt-125m": {**OPT, "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12},
    "facebook/opt-350m": {**OPT, "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "word_embed_proj_dim": 512, "do_layer_norm_before": False},
    "facebook/opt-1.3b": {**OPT, "hidden_size": 2048, "ffn_dim": 8192, "num_hidden_layers": 24, "num_attention_heads": 32, "word_embed_proj_dim": 2048},
    "facebook/opt-2.7b": {**OPT, "hidden_size": 2560, "ffn_dim": 10240, "num_hidden_layers": 32, "num_attention_heads": 32, "word_embed_proj_dim": 2560},
    "facebook/opt-6.7b": {**OPT, "hidden_size": 4096, "ffn_dim": 16384, "num_hidden_layers": 32, "num_attention_heads": 32, "word_embed_proj_dim": 4096},
    "bigscience/bloom-560m": {**BLOOM, "hidden_size": 1024, "n_layer": 24, "n_head": 16},
    "bigscience/bloom-1b1": {**BLOOM, "hidden_size": 1536, "n_layer": 24, "n_head": 16},
    "bigscience/bloom-1b7": {**BLOOM, "hidden_size": 2048, "n_layer": 24, "n_head": 16},
    "bigscience/bloom-3b": {**BLOOM, "hidden_size": 2560, "n_layer": 30, "n_head": 32},
    "bigscience/bloom-7b1": {**BLOOM, "hidden_size": 4096, "n_layer": 30, "n_head": 32},
    "microsoft/BioGPT-Large": {"model_type": "biogpt", "vocab_size": 57717, "hidden_size": 1600, "intermediate_size": 6400, "num_hidden_layers": 48, "num_attention_heads": 25, "max_position_embeddings": 2048},
    "Salesforce/codegen-350M-nl": {**CODEGEN, "n_embd": 1024, "n_layer": 20, "n_head": 16, "rotary_dim": 32},
    "Salesforce/codegen-2B-nl": {**CODEGEN, "n_embd": 2560, "n_layer": 32, "n_head": 32, "rotary_dim": 64},
    "bigcode/gpt_bigcode-santacoder": {"model_type": "gpt_bigcode", "vocab_size": 49280, "n_embd": 2048, "n_layer": 24, "n_head": 16, "n_inner": 8192, "n_positions": 2048, "multi_query": True},
    "EleutherAI/gpt-neo-1.3B": {"model_type": "gpt_neo", "vocab_size": 50257, "hidden_size": 2048, "num_layers": 24, "num_heads": 16, "max_position_embeddings": 2048, "attention_types": [[["global", "local"], 12]]},
    "huggyllama/llama-7b": {"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32},
}

# Its table of nine choices on four V100-16GB: seconds of one epoch by method, none where it says OOM.
CHOICES = {
    "facebook/opt-1.3b": (688, 1616, 2186),
    "facebook/opt-2.7b": (None, 8174, 6038),
    "bigscience/bloom-1b1": (680, 1724, 2631),
    "bigscience/bloom-3b": (None, None, 14495),
    "microsoft/BioGPT-Large": (1022, 3315, 4773),
    "Salesforce/codegen-2B-nl": (None, 6314, 6244),
    "bigcode/gpt_bigcode-santacoder": (651, 1292, 1652),
    "EleutherAI/gpt-neo-1.3B": (768, 1686, 2372),
    "huggyllama/llama-7b": (None, None, None),
}
# GPUs, and tp_size of its tp_real.py (0 is its dp_real.py).
METHODS = {"1": (1, 0), "2DP": (2, 0), "2TP": (2, 2), "4DP": (4, 0), "2DP+2TP": (4, 2), "4TP": (4, 4)}
# Its table of one GPU: MB that it measured (the batch that fills the card is not said).
ONE_GPU_MB = {"facebook/opt-125m": 16378, "facebook/opt-350m": 16264, "bigscience/bloom-560m": 16324, "Salesforce/codegen-350M-nl": 16100}
# Those that it chooses between, and how many GPUs have samples of their own.
ON_FOUR = {"4DP": 4, "2DP+2TP": 2, "4TP": 1}


def chosen(seconds):
    """Its choice: the fastest method that fits."""
    return min((s, name) for s, name in zip(seconds, ON_FOUR) if s)[1] if any(seconds) else "none"
