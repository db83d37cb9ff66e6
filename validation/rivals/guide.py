"""The closed form of a public guide, for those who would rather multiply than run anything.

GPU Memory Estimation for Deep Learning Training: kasohrab/theworld@c6d1e36 docs/guides/gpu-memory-estimation.md, "Quick Reference Formulas",
`total_with_overhead`, for full training without checkpointing.  The guide writes the bytes of bfloat16 into it; its first section gives
float32 four bytes a parameter, and that is put in their place.  Its section 4 gives the states of the optimizers it knows, always float32.
"""

from training import LENGTHS, Refused

OVERHEAD = 1.2
STATE_BYTES_PER_PARAMETER = {"SGD": 0, "Adam": 8, "AdamW": 8}


def version():
    return "kasohrab/theworld@c6d1e36"


def total_bytes(batch, sequence, hidden, layers, intermediate, parameters, kv_heads, head_dim, state_bytes_per_parameter, value_bytes):
    weights = gradients = parameters * value_bytes
    activations = layers * batch * sequence * (3 * intermediate + 6 * hidden) * value_bytes
    kv_cache = 2 * batch * kv_heads * sequence * head_dim * value_bytes * layers
    return round((weights + activations + gradients + parameters * state_bytes_per_parameter + kv_cache) * OVERHEAD)


def estimate(training):
    import train

    if training.is_cnn:
        raise Refused("it has a formula for transformers alone")
    if training.optimizer not in STATE_BYTES_PER_PARAMETER:
        raise Refused(f"it does not say what {training.optimizer} keeps")
    _, config, parameters = train.TRANSFORMERS[training.model]()
    if config.is_encoder_decoder:
        raise Refused("its formula is for one stack of layers, not for an encoder with a decoder")
    return total_bytes(
        training.batch,
        max(LENGTHS),
        config.hidden_size,
        config.num_hidden_layers,
        intermediate_size(config),
        parameters,
        getattr(config, "num_key_value_heads", config.num_attention_heads),
        getattr(config, "head_dim", config.hidden_size // config.num_attention_heads),
        STATE_BYTES_PER_PARAMETER[training.optimizer],
        value_bytes=4,
    )


def intermediate_size(config):
    """As the configurations name it; "typically 4xD", where GPT-2's leaves it out."""
    for name in ("intermediate_size", "ffn_dim", "n_inner"):
        if getattr(config, name, None):
            return getattr(config, name)
    return 4 * config.hidden_size
