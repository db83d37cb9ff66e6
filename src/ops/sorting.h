// Scratch memory of sorting on the device.
#pragma once
#include <cstdint>

#include "memory/card.h"

namespace tidemark {

/// cub::DeviceRadixSort::SortPairs (CCCL 2.8) of int64 keys, of which `passes` bytes are looked at, with int64 values.
std::int64_t radix_sort_scratch(std::int64_t count, std::int64_t passes, const Card& card);

}  // namespace tidemark
