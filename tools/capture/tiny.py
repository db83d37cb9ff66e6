"""Tiny configurations of any model type: what its configuration class has by default, with every size made small by the name of its key."""

import copy
import re

# The first that matches: a number, or a function of the default.
RULES = [
    (r"num_kv_shared|num_nextn|mtp", 0),
    (r"first_k_dense|num_dense_layers|dense_layers", 1),
    (r"(num|n|encoder|decoder|text|vision)_?.*(layers?|blocks|depth)$|^depth$", lambda v: min(v, 4)),
    (r"vocab_size", 256),
    (r"(qk_nope|qk_rope|v|qk)_head_dim", 16),
    (r"lora_rank", 32),
    (r"mamba_n_heads|mamba_num_heads|linear_num_value", 8),
    (r"key_value_heads|kv_heads|num_kv|linear_num_key", 2),
    (r"(head_dim|d_kv|head_size|kv_channels|d_head|attention_head_size)$", 16),
    (r"state|d_state", 16),
    (r"per_tok|top_?k$|topk$|experts_used", 2),
    (r"topk_group|n_groups?$|num_expert_group|shared_experts", 1),
    (r"n_routed|num_(local_)?experts$|moe_num_experts|num_experts", 7),
    (r"heads?$|attention_heads|n_head", 4),
    (r"intermediate|ffn|mlp_hidden|d_ff|d_inner|n_inner|ff_dim|feed_forward|hidden_dim$", 128),
    (r"hidden_size|d_model|n_embd|embed_dim|embedding_size|^dim$|projection_dim|lru_width|out_dim|output_dim|hidden_channels|^width$|d_embed", 64),
    (r"image_size$|img_size", 32),
    (r"patch_size$", lambda v: 8 if v > 4 else v),
    (r"max_position|n_positions|max_seq|n_ctx", lambda v: min(v, 1024)),
    (r"sliding_window$|window_size$|attention_window|local_attention|attention_chunk|chunk_size|chunk_len", lambda v: min(v, 16)),
    (r"mel_bins", 16),
    (r"source_positions", lambda v: min(v, 64)),
]
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth")
SPECIAL = re.compile(r"token_id$|token_index$|_id$|_index$|_token$")


def shrunk(keys, ids=None):
    """The keys of a configuration, nested ones too, made small; ids of special tokens stay apart from each other."""
    ids = {} if ids is None else ids
    keep = _one_layer_of_each_kind(keys)
    alike = keys.get("num_key_value_heads") == keys.get("num_attention_heads")
    for key, value in list(keys.items()):
        if isinstance(value, dict):
            shrunk(value, ids)
        elif isinstance(key, str) and not isinstance(value, bool) and value is not None:
            keys[key] = _small(key, value, ids)
    if alike and "num_key_value_heads" in keys:
        keys["num_key_value_heads"] = keys["num_attention_heads"]
    if keep:
        keys.update({key: len(keep) for key in LAYERS if key in keys})
    return keys


def _one_layer_of_each_kind(keys):
    """Shortens what has an entry for each layer; the layers that are left."""
    count = next((keys[k] for k in LAYERS if isinstance(keys.get(k), int)), None)
    listed = [k for k, v in keys.items() if isinstance(v, list) and count and len(v) == count and count > 2]
    seen, keep = {}, []
    for layer in range(count if listed else 0):
        if seen.setdefault(tuple(str(keys[k][layer]) for k in listed), layer) == layer or layer == 1:
            keep.append(layer)
    for key in listed:
        keys[key] = [keys[key][layer] for layer in keep[:6]]
    return keep[:6]


def _small(key, value, ids):
    if isinstance(value, list):
        if key == "mrope_section":
            return [2, 3, 3]
        if re.search(r"token_id", key):
            return [_id(v, ids) if isinstance(v, int) else v for v in value]
        if re.search(r"index|indices", key) and "out_" not in key and all(isinstance(v, int) for v in value):
            return [0, 1][: len(value)]
        return value[:8] if key in ("short_factor", "long_factor") else value
    if not isinstance(value, int):
        return value
    if SPECIAL.search(key):
        return _id(value, ids)
    for pattern, to in RULES:
        if re.search(pattern, key):
            return to(value) if callable(to) else to if value > to or to >= 2 and value > 1 else value
    return value


def _id(value, ids):
    return ids.setdefault(value, 200 + len(ids)) if value >= 256 else value


def merged(keys, others):
    for key, value in others.items():
        if isinstance(value, dict) and value and isinstance(keys.get(key), dict):
            merged(keys[key], value)
        else:
            keys[key] = value
    return keys


def with_rotation(keys):
    """Where nothing is said of how positions are rotated, the usual is: before transformers 5 a kind of that might be said beside `rope_theta`."""
    for key, value in keys.items():
        if isinstance(value, dict) and key != "rope_parameters":  # which says it all
            with_rotation(value)
    if "rope_theta" in keys and keys.get("rope_scaling") is None and "rope_parameters" not in keys:
        keys["rope_scaling"] = {"rope_type": "default"}
    return keys


def is_taken(model_type, keys):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    try:
        return bool(CONFIG_MAPPING[model_type](**keys))
    except Exception:  # whatever a configuration class thinks of: one of Phi 3 takes but one kind of rotation beside the usual
        return False


def tiny(model_type, overrides):
    """The keys of a tiny configuration; `overrides` are those that the rules do not find."""
    from tidemark.capture.unwritten import keys_of
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    keys = keys_of(CONFIG_MAPPING[model_type](), {})
    for key in ("model_type", "transformers_version", "architectures", "_name_or_path", "dtype"):
        keys.pop(key, None)
    rotated = with_rotation(copy.deepcopy(shrunk(keys)))
    keys = merged(rotated if is_taken(model_type, rotated) else keys, overrides)
    if keys.get("is_encoder_decoder"):
        for key in ("decoder_start_token_id", "pad_token_id"):
            if keys.get(key) is None:
                keys[key] = 0
    return {"model_type": model_type, **keys}
