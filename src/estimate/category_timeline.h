// What the allocated bytes over time are made of.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "tensor/run.h"

namespace tidemark {

inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::other) + 1;
using BytesByCategory = std::array<std::int64_t, kCategories>;

/// For each point of the run's timeline, in its order, the live bytes of each category: they add up to what is
/// allocated there.
std::vector<BytesByCategory> categories_over_time(const Run& run);

}  // namespace tidemark
