from types import SimpleNamespace

from vllm.v1.worker.gpu_worker import Worker

LAYERS, BLOCK_BYTES, BLOCK_TOKENS = 2, 1 << 20, 16


class EngineCore:
    def __init__(self, vllm_config):
        self.worker = Worker()
        self.worker.init_device()
        available = self.worker.determine_available_memory()
        blocks = available // (LAYERS * BLOCK_BYTES)
        length = vllm_config.model_config.max_model_len
        cache = vllm_config.cache_config
        if blocks * BLOCK_TOKENS < length:
            raise ValueError(f"To serve at least one request of {length} tokens,\nmore KV cache memory is needed")
        cache.num_gpu_blocks, cache.block_size = blocks, BLOCK_TOKENS
        cache.kv_cache_size_tokens = blocks * BLOCK_TOKENS
        cache.kv_cache_max_concurrency = blocks * BLOCK_TOKENS / length
        self.worker.initialize_from_config(SimpleNamespace(kv_cache_tensors=[SimpleNamespace(size=blocks * BLOCK_BYTES)] * LAYERS))
        self.worker.compile_or_warm_up_model()
