import torch

GRAPH_BYTES, ESTIMATE_BYTES = 3 << 20, 2 << 20


class Runner:
    def capture_model(self):
        return GRAPH_BYTES


class Worker:
    def init_device(self):
        total = torch.cuda.get_device_properties(0).total_memory
        self.requested_memory = total // 2
        self.model_runner = Runner()

    def determine_available_memory(self):
        self.weights = torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
        self.model_runner.model_memory_usage = self.weights.nbytes
        self.total_consumed = self.weights.nbytes + 1000
        self.cudagraph_memory_estimate = ESTIMATE_BYTES
        self.peak_activation_memory = (5 << 20) + ESTIMATE_BYTES
        self.available_kv_cache_memory_bytes = self.requested_memory - self.total_consumed - self.peak_activation_memory
        return self.available_kv_cache_memory_bytes

    def initialize_from_config(self, config):
        self.model_runner.kv_caches = [torch.zeros(tensor.size, dtype=torch.int8, device="cuda") for tensor in config.kv_cache_tensors]

    def compile_or_warm_up_model(self):
        self.model_runner.capture_model()
