// Patches of an image, of models that take images of any size.
#pragma once
#include <cstdint>

namespace tidemark {

/// What makes patches of pixels, and tokens of patches: `vision_config` of a configuration.
struct Patches {
  std::int64_t side_pixels = 0;  // 0 where nothing says
  std::int64_t merged = 1;       // of which one token is made, down and across
};

struct ImageGrid {
  std::int64_t down, across;
};

/// Of an image of so many pixels.  Needs the size of a patch.
ImageGrid image_grid(const Patches& patches, std::int64_t height, std::int64_t width);

/// Where nobody says how large images are: the largest squares that the processor leaves as they are.
ImageGrid usual_image_grid(const Patches& patches);

}  // namespace tidemark
