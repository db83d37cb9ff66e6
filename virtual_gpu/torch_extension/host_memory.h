// Host memory that PyTorch's tensors take: what offloading moves there.
#pragma once
#include <cstdint>

namespace tidemark {

/// From here on, what PyTorch's CPU allocator hands out is counted: memory as it was asked for, not pages that were touched.  Neither
/// files that are mapped (safetensors) nor memory that others own (NumPy, shared memory) pass through it; pinned memory is cudaHostAlloc's.
void start_counting_host_memory();

/// The most that was handed out at one time.
std::int64_t host_memory_peak_bytes();

}  // namespace tidemark
