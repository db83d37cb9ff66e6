// Watches the allocator and says who asked: operation, module, Python line, phase.
#pragma once
#include <cstdint>

namespace tidemark {

/// Attaches to the caching allocator and to PyTorch's operator callbacks.  Call once, after CUDA is initialised.
void start_observing(int device);

}  // namespace tidemark
