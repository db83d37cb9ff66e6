// Status codes of libnvidia-ml, and the node's cards as its handles; shared by nvml.cpp and nvml_device.cpp.
#pragma once
#include <cstddef>

#include "cuda_abi.h"

namespace tidemark::nvml {

// nvmlReturn_t (nvml.h, CUDA 13.0).
inline constexpr abi::Status kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7;

/// The handle of card `index`; kInvalidArgument if the node has no such card.
abi::Status give_handle(unsigned index, void** device);
/// The card of a handle; 0 for a pointer that is none, since no caller makes handles itself.
unsigned index_of(const void* device);
/// Copies `text` with its terminator; kInsufficientSize if the buffer is too small.
abi::Status give_text(const char* text, char* buffer, std::size_t length);

}  // namespace tidemark::nvml
