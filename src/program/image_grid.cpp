#include "program/image_grid.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

/// Of Qwen2VLImageProcessor, where a checkpoint says no other (transformers 5.23.0: max_pixels = 28 * 28 * 1280).
constexpr double kMostTokens = 1280;

}  // namespace

ImageGrid image_grid(const Patches& patches, std::int64_t height, std::int64_t width) {
  return {std::max<std::int64_t>(height / patches.side_pixels, 1), std::max<std::int64_t>(width / patches.side_pixels, 1)};
}

ImageGrid usual_image_grid(const Patches& patches) {
  const std::int64_t side = static_cast<std::int64_t>(std::sqrt(kMostTokens)) * patches.merged;
  return {side, side};
}

}  // namespace tidemark
