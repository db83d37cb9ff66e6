// Sizes in bytes that many tests count in.
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr std::int64_t kMib = 1 << 20;
inline constexpr std::int64_t kSmallestBlock = 512;  // c10/cuda/CUDACachingAllocator.h, kMinBlockSize

}  // namespace tidemark
