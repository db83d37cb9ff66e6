// Windows of images: pooling, unfolding, sampling.
#pragma once
#include <string_view>

#include "tensor/tensor.h"

namespace tidemark {

/// Means of windows; `sizes` are the result's.
Tensor average_pool(Tensor x, const Dims& sizes);
/// Means of as many windows as the result has places: as the mean over all where that is one.
Tensor adaptive_average_pool(Tensor x, std::int64_t height, std::int64_t width);
/// The largest of each window; `sizes` are the result's.
Tensor max_pool(Tensor x, const Dims& sizes);
/// Columns of windows (N, C * window, places).  torch: nn.functional.unfold
Tensor unfold_windows(Tensor x, const Dims& sizes);
/// Places of x (N, C, H, W) where the grid (N, H', W', 2) says.
Tensor grid_sample(Tensor x, Tensor grid);
/// Another size of the same image; `sizes` are the result's.
/// `mode` is torch's: "nearest", "bilinear", "bicubic", "linear".
Tensor upsample(Tensor x, const Dims& sizes, std::string_view mode, bool antialias = false);

}  // namespace tidemark
