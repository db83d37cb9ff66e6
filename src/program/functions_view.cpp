// Other shapes of the same memory, and its copies.
#include "ops/complex_numbers.h"
#include "ops/memory_format.h"
#include "ops/pieces.h"
#include "ops/selection.h"
#include "ops/windows.h"
#include "program/function.h"
#include "program/functions.h"
#include "program/parts.h"

namespace tidemark {
namespace {

/// Tensor.flatten: dimensions from `start` to `end` become one.
Tensors flatten_call(FunctionCall& call) {
  Tensor x = call.tensor(0);
  const int start = x.sizes().at(static_cast<int>(call.integer_or(1, 0)));
  const int end = x.sizes().at(static_cast<int>(call.integer_or(2, -1)));
  Dims sizes;
  for (int d = 0; d < x.dims(); ++d) {
    if (d > start && d <= end)
      sizes[-1] *= x.size(d);
    else
      sizes.push_back(x.size(d));
  }
  return {reshape(std::move(x), sizes)};
}

/// Without a dimension all go that have one element.
Tensors squeeze_call(FunctionCall& call) {
  if (call.given(1)) return {squeeze(call.tensor(0), call.dimension(1))};
  const Tensor x = call.tensor(0);
  Dims left;
  for (const std::int64_t size : x.sizes())
    if (size != 1) left.push_back(size);
  return {view(x, left)};
}

/// Each row as large as all of them span.  torch: native/TensorShape.cpp, meshgrid
Tensors meshgrid_call(FunctionCall& call) {
  call.require(!call.given(1) || call.argument(1).text == "ij", "another indexing than ij");
  const Tensors rows = call.tensors(0);
  Dims sizes;
  for (const Tensor& row : rows) sizes.push_back(row.elements());
  Tensors grids;
  for (int d = 0; d < static_cast<int>(rows.size()); ++d) {
    Dims own = sizes;
    for (int i = 0; i < own.count(); ++i) own[i] = i == d ? sizes[d] : 1;
    grids.push_back(expand(view(rows[static_cast<std::size_t>(d)], own), sizes));
  }
  return grids;
}

/// Tensor.unfold: windows along a dimension, which become the last; nn.functional.unfold has other parameters.
Tensors windows_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  call.require(!needs_grad(x), "a gradient");
  Layout layout = x.layout();
  const int d = layout.sizes.at(call.dimension(1));
  const std::int64_t size = call.integer(2), step = call.integer(3), stride = layout.strides[d];
  layout.sizes[d] = (layout.sizes[d] - size) / step + 1;
  layout.strides[d] = stride * step;
  layout.sizes.push_back(size);
  layout.strides.push_back(stride);
  return {view_of(x, layout)};
}

Dims sizes_of(const FunctionCall& call) { return call.reads_tensors(1) ? call.result_sizes() : call.dims(1); }

Tensors view_call(FunctionCall& call, Tensor (*function)(Tensor, const Dims&)) {
  const Dims* whole = call.whole_sizes(0);
  const Tensor x = call.tensor(0);
  return {function(x, whole ? viewed_part(sizes_of(call), *whole, x.sizes()) : sizes_of(call))};
}

Tensors expand_call(FunctionCall& call) {
  const Dims* whole = call.whole_sizes(0);
  const Tensor x = call.tensor(0);
  return {expand(x, whole ? expanded_part(sizes_of(call), *whole, x.sizes()) : sizes_of(call))};
}

/// How often, where a tensor says that, is told by the result.
Tensors repeat_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  if (!call.reads_tensors(1)) return {repeat(x, call.dims(1))};
  Dims times = call.result_sizes();
  for (int d = 1; d <= x.dims(); ++d) {
    call.require(x.size(-d) > 0, "nothing that is repeated");
    times[-d] /= x.size(-d);
  }
  return {repeat(x, times)};
}

/// Each is shown in the sizes that all have together.
Tensors broadcast_call(FunctionCall& call) {
  Tensors all = call.tensors(0);
  Dims sizes;
  for (const Tensor& each : all) sizes = broadcast(sizes, each.sizes());
  for (Tensor& each : all) each = expand(std::move(each), sizes);
  return all;
}

Tensors split_call(FunctionCall& call) {
  const int d = static_cast<int>(call.integer_or(2, 0));
  if (call.reads_tensors(1)) {
    std::vector<std::int64_t> parts;
    for (std::size_t i = 0; i < call.results(); ++i) parts.push_back(call.result_sizes(i)[d]);
    return split_sizes(call.tensor(0), parts, d);
  }
  if (call.argument(1).kind == Argument::Kind::list) return split_sizes(call.tensor(0), call.integers(1), d);
  call.require(call.integer(1) > 0, "pieces without elements");
  return split(call.tensor(0), call.integer(1), d);
}

Tensors chunk_call(FunctionCall& call) {
  call.require(call.integer(1) > 0 && call.integer(1) <= 64, "such a number of chunks");
  return chunk(call.tensor(0), static_cast<int>(call.integer(1)), static_cast<int>(call.integer_or(2, 0)));
}

/// torch: native/Repeat.cpp, repeat_interleave: slices by their places
Tensors repeat_by_tensor(FunctionCall& call) {
  const int d = call.given(2) ? call.tensor(0).sizes().at(call.dimension(2)) : 0;
  const std::int64_t total = call.given(3) ? call.integer(3) : call.result_sizes()[d];
  const Tensor x = call.tensor(0);
  if (x.dims() == 1 && !x.requires_grad()) return {repeat_interleave(x, call.tensor(1), total)};
  const Op op(x, "aten::repeat_interleave");
  const Tensor places = repeated_places(call.tensor(1), total);
  return {index_select(x, d, places)};
}

Tensors repeat_interleave_call(FunctionCall& call) {
  if (call.is_tensor(1)) return repeat_by_tensor(call);
  Tensor x = call.tensor(0);
  call.require(call.given(2) || x.dims() == 1, "no dimension");
  return {repeat_interleave(std::move(x), call.integer(1), call.given(2) ? call.dimension(2) : 0)};
}

/// The cache begins with a tensor without elements, whose type counts and whose sizes do not.
Tensors cat_call(FunctionCall& call) {
  Tensors parts;
  std::optional<Dtype> also;
  for (Tensor& part : call.tensors(0)) {
    if (part.dims() == 1 && part.size(0) == 0)
      also = also ? promote(*also, part.dtype()) : part.dtype();
    else
      parts.push_back(std::move(part));
  }
  call.require(!parts.empty(), "nothing but empty tensors");
  return {cat(std::move(parts), static_cast<int>(call.integer_or(1, 0)), also)};
}

Tensors pad_call(FunctionCall& call) {
  Dims widths;
  if (call.reads_tensors(1)) {  // of what comes in front, and what behind, the sizes tell the sum
    const Dims sizes = call.result_sizes(), before = call.tensor(0).sizes();
    for (int d = 1; d <= static_cast<int>(call.argument(1).items.size()) / 2; ++d) {
      widths.push_back(0);
      widths.push_back(sizes[-d] - before[-d]);
    }
    return {pad(call.tensor(0), widths)};
  }
  std::size_t last = 0;  // more than the tensor has room for, where those behind are 0
  const std::vector<Argument>& given = call.argument(1).items;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (call.integer_of(given[i]) != 0) last = i + 1;
  for (std::size_t i = 0; i < last + last % 2; ++i) widths.push_back(call.integer_of(given[i]));
  return {pad(call.tensor(0), widths)};
}

/// One size for both, or None where a dimension stays as it is.
Tensors adaptive_pool_call(FunctionCall& call) {
  Tensor x = call.tensor(0);
  call.require(x.dims() >= 3, "no image");
  const Dims sizes = call.result_sizes();
  return {adaptive_average_pool(std::move(x), sizes[-2], sizes[-1])};
}

/// torch: native/AdaptiveAveragePooling.cpp, adaptive_avg_pool1d: of an image that is one row high
Tensors adaptive_row_call(FunctionCall& call) {
  Tensor image = unsqueeze(call.tensor(0), -2);
  call.require(!is_channels_last(image.layout()), "channels that are last");
  return {squeeze(adaptive_average_pool(std::move(image), 1, call.result_sizes()[-1]), -2)};
}

/// torch.nn.functional.interpolate: "area" is adaptive_avg_pool1d, 2d or 3d, by the dimensions.
Tensors interpolate_call(FunctionCall& call) {
  const std::string_view mode = call.given(3) ? std::string_view(call.argument(3).text) : "nearest";
  if (mode != "area") return {upsample(call.tensor(0), call.result_sizes(), mode, call.flag_or(6, false))};
  call.require(call.tensor(0).dims() < 5, "areas of volumes");
  return call.tensor(0).dims() == 3 ? adaptive_row_call(call) : adaptive_pool_call(call);
}

/// torch: native/Pooling.cpp, avg_pool1d: of an image that is one row high
Tensors average_row_call(FunctionCall& call) {
  Tensor image = unsqueeze(call.tensor(0), -2);
  Dims sizes = image.sizes();
  sizes[-1] = call.result_sizes()[-1];
  return {squeeze(average_pool(std::move(image), sizes), -2)};
}

Tensors max_pool_call(FunctionCall& call) {
  call.require(!call.flag_or(6, false), "indices among its results");
  return {max_pool(call.tensor(0), call.result_sizes())};
}

constexpr Function kViewFunctions[] = {
    {"view", "input *shape", [](FunctionCall& c) { return view_call(c, view); }},
    {"reshape", "input *shape", [](FunctionCall& c) { return view_call(c, reshape); }},
    {"flatten", "input start_dim end_dim", flatten_call},
    {"transpose swapaxes", "input dim0 dim1",
     [](FunctionCall& c) { return Tensors{transpose(c.tensor(0), c.dimension(1), c.dimension(2))}; }},
    {"t torch.Tensor.T.__get__ torch.Tensor.mT.__get__", "input",
     [](FunctionCall& c) { return Tensors{transpose(c.tensor(0), -2, -1)}; }},
    {"permute", "input *dims", [](FunctionCall& c) { return Tensors{permute(c.tensor(0), c.dims(1))}; }},
    {"unsqueeze", "input dim", [](FunctionCall& c) { return Tensors{unsqueeze(c.tensor(0), c.dimension(1))}; }},
    {"view_as_complex", "input", [](FunctionCall& c) { return Tensors{view_as_complex(c.tensor(0))}; }},
    {"view_as_real", "input", [](FunctionCall& c) { return Tensors{view_as_real(c.tensor(0))}; }},
    {"squeeze", "input dim", squeeze_call},
    {"expand broadcast_to", "input *sizes", expand_call},
    {"broadcast_tensors", "*tensors", broadcast_call},
    {"expand_as", "input other", [](FunctionCall& c) { return Tensors{expand(c.tensor(0), c.tensor(1).sizes())}; }},
    {"view_as", "input other", [](FunctionCall& c) { return Tensors{view(c.tensor(0), c.tensor(1).sizes())}; }},
    {"reshape_as", "input other", [](FunctionCall& c) { return Tensors{reshape(c.tensor(0), c.tensor(1).sizes())}; }},
    {"contiguous", "input memory_format", [](FunctionCall& c) { return Tensors{contiguous(c.tensor(0))}; }},
    {"clone", "input memory_format", [](FunctionCall& c) { return Tensors{clone(c.tensor(0))}; }},
    {"detach torch.Tensor.data.__get__", "input", [](FunctionCall& c) { return Tensors{detach(c.tensor(0))}; }},
    {"chunk", "input chunks dim", chunk_call},
    {"split", "tensor split_size dim", split_call},
    {"torch.nn.functional.unfold", "input kernel_size dilation padding stride",
     [](FunctionCall& c) { return Tensors{unfold_windows(c.tensor(0), c.result_sizes())}; }},
    {"avg_pool2d", "input kernel_size stride padding ceil_mode count_include_pad divisor_override",
     [](FunctionCall& c) { return Tensors{average_pool(c.tensor(0), c.result_sizes())}; }},
    {"avg_pool1d", "input kernel_size stride padding ceil_mode count_include_pad", average_row_call},
    {"adaptive_avg_pool2d", "input output_size", adaptive_pool_call},
    {"adaptive_avg_pool1d", "input output_size", adaptive_row_call},
    {"max_pool2d", "input kernel_size stride padding dilation ceil_mode return_indices", max_pool_call},
    {"grid_sample", "input grid mode padding_mode align_corners",
     [](FunctionCall& c) { return Tensors{grid_sample(c.tensor(0), c.tensor(1))}; }},
    {"interpolate", "input size scale_factor mode align_corners recompute_scale_factor antialias", interpolate_call},
    {"meshgrid", "*tensors indexing", meshgrid_call},
    {"unfold", "input dimension size step", windows_call},
    {"unbind", "input dim", [](FunctionCall& c) { return unbind(c.tensor(0), static_cast<int>(c.integer_or(1, 0))); }},
    {"repeat tile", "input *repeats", repeat_call},
    {"repeat_interleave", "input repeats dim output_size", repeat_interleave_call},
    {"cat concat concatenate", "tensors dim", cat_call},
    {"stack", "tensors dim",
     [](FunctionCall& c) { return Tensors{stack(c.tensors(0), static_cast<int>(c.integer_or(1, 0)))}; }},
    {"pad", "input pad mode value", pad_call},
};

}  // namespace

std::span<const Function> view_functions() { return kViewFunctions; }

}  // namespace tidemark
