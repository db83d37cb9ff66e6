#include "ops/memory_format.h"

#include <algorithm>

namespace tidemark {
namespace {

/// The dimensions from that which lies closest together on, where channels are last in memory.
Dims from_the_closest(int dims) {
  Dims order{1};
  for (int d = dims - 1; d > 1; --d) order.push_back(d);
  order.push_back(0);
  return order;
}

}  // namespace

/// torch: c10/core/MemoryFormat.h, is_channels_last_strides_2d_s4 and is_channels_last_strides_3d_s5 (2.11.0)
bool is_channels_last(const Layout& x) {
  if ((x.sizes.count() != 4 && x.sizes.count() != 5) || x.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::int64_t dimension : from_the_closest(x.sizes.count())) {
    const int d = static_cast<int>(dimension);
    if (x.sizes[d] == 0 || x.strides[d] < least || (d == 0 && least == x.strides[1])) return false;
    least = x.strides[d] * std::max<std::int64_t>(x.sizes[d], 1);
  }
  return true;
}

bool is_contiguous_channels_last(const Layout& x) {
  if (x.sizes.count() != 4) return false;
  std::int64_t expected = 1;
  for (const std::int64_t dimension : from_the_closest(4)) {
    const int d = static_cast<int>(dimension);
    if (x.sizes[d] == 1) continue;
    if (x.strides[d] != expected) return false;
    expected *= x.sizes[d];
  }
  return true;
}

Layout layout_of(const Dims& sizes, bool channels_last) {
  if (!channels_last) return {sizes, contiguous_strides(sizes)};
  Layout layout{sizes, sizes};
  std::int64_t stride = 1;
  for (const std::int64_t d : from_the_closest(sizes.count())) {
    layout.strides[static_cast<int>(d)] = stride;
    stride *= sizes[static_cast<int>(d)];
  }
  return layout;
}

Layout layout_like(const Tensor& x, const Dims& sizes) { return layout_of(sizes, is_channels_last(x.layout())); }

Layout cat_layout(const Tensors& parts, const Dims& sizes) {
  const auto is_last = [](const Tensor& part) { return is_channels_last(part.layout()); };
  return layout_of(sizes, std::all_of(parts.begin(), parts.end(), is_last));
}

}  // namespace tidemark
