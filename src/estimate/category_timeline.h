// What the allocated bytes over time are made of.
#pragma once
#include <vector>

#include "estimate/report.h"
#include "tensor/run.h"

namespace tidemark {

inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::other) + 1;

/// The live bytes of each category at each point of the run's timeline: at every point they add up to what is
/// allocated. Needs the run's history.
std::vector<CategoryOverTime> categories_over_time(const Run& run);

}  // namespace tidemark
