#include "program/image_grid.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

/// Of Qwen2VLImageProcessor, where a checkpoint says no other (transformers 5.23.0: max_pixels = 28 * 28 * 1280).
constexpr double kMostTokens = 1280;

/// smart_resize of that processor, within bounds that each checkpoint has its own of.
std::int64_t tokens_along(std::int64_t pixels, std::int64_t token_pixels) {
  const double tokens = std::nearbyint(static_cast<double>(pixels) / static_cast<double>(token_pixels));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(tokens));
}

}  // namespace

ImageGrid image_grid(const Patches& patches, std::int64_t height, std::int64_t width) {
  const std::int64_t token_pixels = patches.side_pixels * patches.merged;
  return {tokens_along(height, token_pixels) * patches.merged, tokens_along(width, token_pixels) * patches.merged};
}

ImageGrid usual_image_grid(const Patches& patches) {
  const std::int64_t side = static_cast<std::int64_t>(std::sqrt(kMostTokens)) * patches.merged;
  return {side, side};
}

}  // namespace tidemark
