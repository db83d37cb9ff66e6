// The largest batch, length, number or size of images that fits.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace tidemark::plan {

inline constexpr std::array<std::string_view, 4> kSizeNames{"batch", "seq", "images", "image_size"};
/// Samples per pass, tokens per sample, images per sample, pixels of a side of a square image.
enum class Size { batch, seq, images, image_size };

struct LargestPlan {
  std::int64_t value = 0;    // 0: nothing fits
  std::int64_t refused = 0;  // the next larger one that can be asked for, with which nothing fits
  std::string why;           // … since it cannot be simulated; empty: since memory is full
  Plan plan;                 // the fastest ways of training with `value`, and what they change of the question
};

/// The largest that fits in any way that the free decisions allow; the next larger one is tried in all of them.  Relies
/// on this alone: what does not fit does not fit with more either.
LargestPlan largest(const Question& question, Size size, const Engine& engine);

}  // namespace tidemark::plan
