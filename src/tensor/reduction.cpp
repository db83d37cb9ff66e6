#include "tensor/reduction.h"

#include <algorithm>

namespace tidemark {
namespace {

/// One dimension of the kernel's iteration: neighbours that can be walked as one are one.  Strides in bytes.
struct Axis {
  std::int64_t size, input_stride;
  bool reduced;
};

struct Axes {
  std::array<Axis, Dims::kMost> axis{};
  int count = 0, reduced = 0;
};

bool is_inside(const Axis& a, const Axis& b) {
  if (a.reduced != b.reduced) return a.reduced;
  if (!a.reduced) return false;  // the result is contiguous, and its order goes before the input's
  return a.input_stride != b.input_stride && a.input_stride != 0 && b.input_stride != 0 &&
         a.input_stride < b.input_stride;
}

/// TensorIteratorBase::reorder_dimensions and coalesce_dimensions, for one output (stride 0 where reduced).
Axes axes_of(const Layout& input, const Dims& reduced, std::int64_t element_bytes) {
  Axes axes;
  for (int d = input.sizes.count() - 1; d >= 0; --d) {
    if (input.sizes[d] == 1) continue;
    axes.axis[static_cast<std::size_t>(axes.count++)] = {input.sizes[d], input.strides[d] * element_bytes,
                                                         reduced[d] != 0};
  }
  for (auto i = axes.axis.begin(), end = i + axes.count; i != end; ++i)  // few: std::stable_sort would ask for memory
    for (auto at = i; at != axes.axis.begin() && is_inside(*at, at[-1]); --at) std::swap(*at, at[-1]);
  int last = 0;
  for (int i = 1; i < axes.count; ++i) {
    Axis& before = axes.axis[static_cast<std::size_t>(last)];
    const Axis& next = axes.axis[static_cast<std::size_t>(i)];
    if (before.reduced == next.reduced && before.size * before.input_stride == next.input_stride)
      before.size *= next.size;
    else
      axes.axis[static_cast<std::size_t>(++last)] = next;
  }
  if (axes.count > 0) axes.count = last + 1;
  for (int i = 0; i < axes.count; ++i) axes.reduced += axes.axis[static_cast<std::size_t>(i)].reduced ? 1 : 0;
  return axes;
}

std::int64_t last_pow2(std::int64_t n) {
  std::int64_t power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ReductionScratch reduction_scratch(const Layout& input, const Dims& reduced, Dtype input_dtype, Dtype accumulate,
                                   const Card& card) {
  const std::int64_t element_bytes = size_of(input_dtype);
  const Axes axes = axes_of(input, reduced, element_bytes);
  std::int64_t inputs_per_output = 1, outputs = 1;
  for (int i = 0; i < axes.count; ++i) {
    const Axis& axis = axes.axis[static_cast<std::size_t>(i)];
    (axis.reduced ? inputs_per_output : outputs) *= axis.size;
  }
  if (axes.count == 0 || inputs_per_output == 0 || outputs == 0) return {};
  const auto stride = [&](int i) { return axes.axis[static_cast<std::size_t>(i)].input_stride; };
  const bool on_fastest = axes.reduced == axes.count || stride(0) < stride(axes.reduced);
  std::int64_t dim0 = on_fastest ? inputs_per_output : outputs, dim1 = on_fastest ? outputs : inputs_per_output;
  const std::int64_t fastest_stride = stride(on_fastest ? 0 : axes.reduced);
  constexpr std::int64_t kInputVector = 4;
  std::int64_t output_vector = 1;
  if (fastest_stride == element_bytes) {
    if (on_fastest && dim0 >= 128 && axes.reduced == 1) {
      dim0 /= kInputVector;
    } else if (!on_fastest) {
      output_vector = 4;  // get_output_vec_size
      while (output_vector > 1 && axes.axis[static_cast<std::size_t>(axes.reduced)].size % output_vector != 0)
        output_vector /= 2;
      for (int i = 0; i < axes.count; ++i)
        while (i != axes.reduced && stride(i) % (output_vector * element_bytes) != 0) output_vector /= 2;
      dim0 /= output_vector;
    }
  }
  const std::int64_t most_threads = 512 / output_vector;  // set_block_dimension
  const std::int64_t dim0_pow2 = dim0 < most_threads ? last_pow2(dim0) : most_threads;
  const std::int64_t dim1_pow2 = dim1 < most_threads ? last_pow2(dim1) : most_threads;
  std::int64_t width = std::min<std::int64_t>(dim0_pow2, 32);
  const std::int64_t height = std::min(dim1_pow2, most_threads / width);
  width = std::min(dim0_pow2, most_threads / height);
  std::int64_t step_input = 1, step_output = 1;
  (on_fastest ? step_input : step_output) *= width;
  const auto values_per_thread = [&] { return div_up(inputs_per_output, step_input); };
  const bool across_warps = values_per_thread() >= std::min<std::int64_t>(height * 16, 256);
  (across_warps ? step_input : step_output) *= height;
  const std::int64_t target = card.multiprocessors * (card.max_threads_per_multiprocessor / (width * height));
  const std::int64_t grid = div_up(outputs / output_vector, step_output);
  if (!across_warps || values_per_thread() < 256 || grid > target) return {};
  const std::int64_t blocks =
      std::max(std::min(div_up(target, grid), div_up(values_per_thread(), 16)), div_up(values_per_thread(), 256));
  if (blocks <= 1) return {};
  const std::int64_t per_output = on_fastest ? 1 : width * output_vector;
  return {size_of(accumulate) * outputs * blocks * per_output, 4 * grid};
}

}  // namespace tidemark
